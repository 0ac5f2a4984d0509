"""Which folders and views are served, under which names, and what is said of what is not there."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.made_up_results.page import Page
from support.made_up_results.texts import AGENTS
from support.made_up_results.workspace import make_workspace
from support.plugin import Installed
from support.plugin import plugin as plugin
from support.workbench import browsing

from ragassay.errors import InputError
from ragassay.workbench.app import Access, make_app
from ragassay.workbench.asked import benches_of


def test_one_folder_is_shown_at_once_and_several_are_listed(tmp_path: Path):
    one, two = make_workspace(tmp_path / "1"), make_workspace(tmp_path / "2")
    with browsing(one) as client:
        assert client.get("/", follow_redirects=False).headers["location"] == "/results/decision"
    with browsing(one, two) as client:
        page = client.get("/").text
        assert '"/results/decision"' in page and '"/results-2/decision"' in page


def test_two_folders_of_one_name_have_two_addresses(tmp_path: Path):
    folders = [make_workspace(tmp_path / name) for name in "ab"]
    assert list(benches_of(folders)) == ["results", "results-2"]


def test_what_is_not_there_is_not_found(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        for path in (
            "/nothing",
            "/other/decision",
            "/results/queries/none",
            "/static/../guard.py",
            "/results/%2e%2e/%2e%2e/etc",
        ):
            assert client.get(path).status_code == 404, path


def test_a_page_that_waits_is_loaded_anew_when_the_index_is_there(tmp_path: Path):
    app = make_app(benches_of([make_workspace(tmp_path)]), Access(), None)
    with TestClient(app, base_url="http://localhost:8765") as client:
        page = client.get("/results/queries").text
        (named,) = set(re.findall(r"hx-headers=\'{\"(x-ragassay-waits)\"", page))
        for _ in range(200):
            asked = client.get("/results/queries", headers={"hx-request": "true", named: "1"})
            assert asked.status_code == 204 and not asked.text
            if "hx-refresh" in asked.headers:
                break
            time.sleep(0.05)
        assert asked.headers["hx-refresh"] == "true" and "<html" in client.get("/results/queries").text


MENU = ["Decision", "Queries", "Compare runs", "Test set", "Label", "Run"]
VIEW = """from pathlib import Path
from ragassay.workbench.asked import bench_of, render
from ragassay.workbench.views import View

def show(request):
    return render(request, "own.html.j2", bench_of(request), said="<b>own</b>")

class Own(View):
    name, title, order = "NAME", "Own", 35
    routes = (("/NAME", show, ["GET"]),)
    templates = Path(__file__).parent
"""


def menu_of(page: str) -> list[str]:
    nav = page[page.index('<nav aria-label="Views">') : page.index("</nav>")]
    return re.findall(r">([^<>]+)</a>", nav)


@pytest.fixture
def own_view(plugin: Installed) -> Installed:
    """The package with a view of the name that is put in the place of NAME."""
    (plugin.folder / "own.html.j2").write_text("{% extends 'base.html.j2' %}{% block main %}{{ said }}{% endblock %}")
    plugin.install(views={"own": "own_views:Own"})
    sys.modules.pop("own_views", None)
    return plugin


def test_views_stand_in_the_menu_in_their_order_and_a_packages_among_them(tmp_path: Path, own_view: Installed):
    (own_view.folder / "own_views.py").write_text(VIEW.replace("NAME", "own"))
    with browsing(make_workspace(tmp_path)) as client:
        assert menu_of(client.get("/results/labels").text) == [*MENU[:3], "Own", *MENU[3:]]
        page = client.get("/results/own").text
    assert "&lt;b&gt;own&lt;/b&gt;" in page and 'href="/results/own" aria-current="page"' in page


def test_a_packages_view_may_not_take_the_name_of_another(own_view: Installed):
    (own_view.folder / "own_views.py").write_text(VIEW.replace("NAME", "decision"))
    with pytest.raises(InputError, match="the view 'own' has the name 'decision', which another view has; uninstall"):
        make_app({}, Access(), None)


def test_without_packages_the_menu_is_ours(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        assert menu_of(client.get("/results/labels").text) == MENU


def test_hostile_text_is_text_on_every_page_that_a_link_leads_to(tmp_path: Path):
    seen, todo = set[str](), [f"/results/{view}" for view in ("decision", "queries", "compare", "test-set", "labels")]
    with browsing(make_workspace(tmp_path / "1", 12), make_workspace(tmp_path / "2", 12)) as client:
        while todo:
            address = todo.pop(0)
            answer = client.get(address)
            assert answer.status_code == 200, address
            seen.add(address)
            page = Page(answer.text)
            for tag, given in page.tags:
                assert tag not in {"iframe", "object", "embed", "base"}, address
                assert tag != "script" or str(given.get("src")).startswith("/static/"), address
                assert not any(name.startswith("on") for name in given), address
                assert not str(given.get("href", "")).startswith(("javascript:", "http", "//")), address
            links = re.findall(r'href="(/results/(?:queries|page)/[^"?#]+)', answer.text)
            todo += [link for link in dict.fromkeys(links) if link not in seen and link not in todo]
    assert sum("/queries/" in address for address in seen) >= 12


def test_an_agent_has_one_colour_in_all_views(tmp_path: Path):
    with browsing(make_workspace(tmp_path / "1", 4), make_workspace(tmp_path / "2", 4)) as client:
        query = re.findall(r'href="(/results/queries/[^"?#]+)', client.get("/results/queries").text)[0]
        pages = [client.get(address).text for address in ("/results/decision", "/results/compare", query)]
    first, *others = [dict(re.findall(r'class="ag (c\d+)">([^<]+)<', page)) for page in pages]
    assert set(first.values()) == set(AGENTS) and all(one == first for one in others)
