"""What an address asks of the list: places in their short form, and back from what is asked to an address."""

from __future__ import annotations

from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from ragassay.workbench.shown.listed import Listing, listing_of, places_of, short_form


@given(st.sets(st.integers(0, 300)))
def test_places_survive_their_short_form(places: set[int]):
    assert places_of(short_form(sorted(places)), 301) == places


def test_what_is_no_place_is_passed_over():
    assert short_form([7, 0, 1, 2, 9, 10]) == "0-2,7,9-10"
    assert places_of("1,x,-3,8-6,2-3,99999999999,5-4000000", 7) == {1, 2, 3, 5, 6}


def test_an_address_says_what_was_asked_for():
    given = {"words": "a b", "kind": "fact", "sort": "worth", "measure": "RR@5", "low": "0.25", "failed": "1"}
    listing = listing_of(given | {"high": "nan", "agent": "", "places": "0-3"})
    assert dict(parse_qsl(listing.address())) == given | {"places": "0-3"}
    assert listing_of(dict(parse_qsl(listing.address(sort="place")))).sort == "place"
    assert Listing().address() == ""
