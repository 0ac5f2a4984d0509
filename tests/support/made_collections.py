"""Collections as hypothesis makes them: odd texts and ids, agents that answer or fail, labels, rankings and games."""

from __future__ import annotations

from hypothesis import strategies as st

from ragassay.evaluate.from_files.collections.collection import Collection
from ragassay.records import Answer, Game, Passage, Query, Usage

IDS = st.text("abz019._-:/é漢", min_size=1, max_size=6)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
ODD = (
    *("=cmd()", "'=1", "''- so", "- a list\n- of two", "@x", "\ttab", "\rback", 'a "quote", and; more', "a\r\nb"),
    *('["a"]', '{"query": "x"}', '{"messages": [{"content": "y"}]}', "[]", "{}", "null", "3", "<b>&amp;</b>", "</DOC>"),
    *("Ja. [1] Nein [2].", "\ufeffbom", "\u2028line", "\x1b[31mred", "'", "-", "A"),
)
SAID = st.sampled_from(ODD) | TEXTS.filter(lambda text: text.strip())


@st.composite
def collections(draw: st.DrawFn) -> Collection:
    """Up to four queries and passages and two agents; every passage that is named is at hand."""
    told = st.fixed_dictionaries({}, optional={"expected_response": SAID, "kind": SAID})
    ids, texts = (
        draw(st.lists(IDS, min_size=1, max_size=4, unique=True)),
        draw(st.lists(SAID, min_size=4, max_size=4, unique_by=lambda text: " ".join(text.split()))),
    )
    queries = {id: Query(id=id, text=text, metadata=draw(told)) for id, text in zip(ids, texts, strict=False)}
    texts = draw(st.lists(SAID, min_size=1, max_size=4, unique_by=lambda text: text.strip()))
    known = draw(st.lists(IDS, min_size=len(texts), max_size=len(texts), unique=True))
    whence = st.fixed_dictionaries({}, optional={"doc": SAID, "page": st.integers(1, 9)})
    passages = {
        id: Passage(id=id, title=draw(st.just("") | SAID), text=text, metadata=draw(whence))
        for id, text in zip(known, texts, strict=True)
    }
    some = st.lists(st.sampled_from(known), unique=True)
    answers = {agent: {id: draw(_answer(id, agent, some)) for id in draw(_part(ids))} for agent in ("a", "b-1")}
    rankings = {
        agent: {id: [(one, 1.0 - n / 8) for n, one in enumerate(row)] for id in ids if (row := draw(some))}
        for agent in ("a", "b-1")
    }
    qrels = {id: {one: draw(st.integers(-1, 3)) for one in row} for id in ids if (row := draw(some))}
    games = draw(st.lists(_game(ids), max_size=3))
    return Collection(queries, passages, qrels, answers, rankings, tuple(games))


def _part(ids: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(ids), unique=True)


@st.composite
def _answer(draw: st.DrawFn, query: str, agent: str, some: st.SearchStrategy[list[str]]) -> Answer:
    said = draw(st.none() | SAID)
    tokens = st.none() | st.integers(0, 10**6)
    usage = Usage(input_tokens=draw(tokens), output_tokens=draw(tokens), cost_usd=draw(st.none() | st.floats(0, 9)))
    return Answer(
        **{"query_id": query, "agent": agent, "answer": said, "passages": tuple(draw(some)), "usage": usage},
        queries=tuple(draw(st.lists(SAID, max_size=2))),
        latency_s=draw(st.none() | st.integers(0, 10**9).map(lambda n: n / 1e6)),
        error=None if said is not None else draw(SAID),
        model=draw(st.none() | SAID),
        prompt=draw(st.none() | SAID),
    )


@st.composite
def _game(draw: st.DrawFn, ids: list[str]) -> Game:
    return Game(
        **{"query_id": draw(st.sampled_from(ids)), "agent_a": "a", "agent_b": "b-1"},
        first=draw(st.sampled_from(["a", "b"])),
        judge=draw(st.sampled_from(["", "llm"])),
        winner=draw(st.sampled_from(["a", "b", "tie"])),
        reason=draw(st.none() | SAID.map(str.strip)),
        probability=draw(st.none() | st.sampled_from([0.25, 0.5])),
    )
