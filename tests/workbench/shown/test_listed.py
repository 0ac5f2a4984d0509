"""What an address asks of the list, and back from what is asked to an address."""

from __future__ import annotations

from urllib.parse import parse_qsl

from ragassay.workbench.views.queries import Listing, listing_of


def test_an_address_says_what_was_asked_for():
    given = {"words": "a b", "kind": "fact", "sort": "worth", "measure": "RR@5", "low": "0.25", "failed": "1"}
    listing = listing_of(given | {"high": "nan", "agent": "", "places": "0-3"})
    assert dict(parse_qsl(listing.address())) == given | {"places": "0-3"}
    assert listing_of(dict(parse_qsl(listing.address(sort="place")))).sort == "place"
    assert Listing().address() == ""
