"""The verbs that work on anybody's files, with their options and their help. Nothing is imported here but argparse."""

from __future__ import annotations

import argparse

from .options import add_corpus, add_verb, path_of


def add_verbs_on_files(verbs) -> None:  # type: ignore[no-untyped-def]
    """search, opensearch, score, rate, plot, consistency, gate, agree, agree-systems, meta-eval."""
    _add_search(verbs)
    _add_opensearch(verbs)
    _add_score(verbs)
    _add_rate(verbs)
    _add_plot(verbs)
    _add_consistency(verbs)
    _add_gate(verbs)
    _add_agree(verbs)
    _add_agree_systems(verbs)
    _add_meta_eval(verbs)


def _add_search(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "search",
        "rank the passages of any BEIR folder for its queries, into a TREC run",
        "ragassay.cli.verbs.on_files:search",
    )
    verb.add_argument("--corpus", type=path_of, required=True, metavar="JSONL", help="corpus.jsonl (BEIR)")
    verb.add_argument("--queries", type=path_of, required=True, metavar="JSONL", help="queries.jsonl (BEIR)")
    verb.add_argument("--retriever", choices=["bm25", "knn", "hybrid"], default="bm25", help="default: bm25")
    verb.add_argument("--embedding", default="all-MiniLM-L6-v2", metavar="MODEL", help="default: all-MiniLM-L6-v2")
    verb.add_argument("--bm25", choices=["bm25s", "rank-bm25"], default="bm25s", help="default: bm25s")
    verb.add_argument("--language", default="en", help="of stop words and stemming; default: en")
    verb.add_argument("--rrf-k", type=int, default=60, metavar="N", help="of the hybrid's fusion; default: 60")
    verb.add_argument("--k", type=int, default=100, metavar="N", help="passages a query; default: 100")
    verb.add_argument("--cache", type=path_of, metavar="DIR", help="keep embeddings here for the next time")
    verb.add_argument("--out", type=path_of, required=True, metavar="RUN", help="the TREC run to write")
    verb.add_argument("--engine", choices=["embedded", "opensearch"], default="embedded", help="default: embedded")
    server = verb.add_argument_group("with --engine opensearch")
    _add_server(server)
    server.add_argument("--index", dest="index_name", metavar="NAME", help="search this one; nothing is indexed")
    server.add_argument("--hybrid", choices=["ours", "server"], help="who fuses; default: ours")
    server.add_argument("--knn-engine", choices=["lucene", "faiss"], help="of a new index; default: lucene")
    server.add_argument("--ef-search", type=int, metavar="N", help="candidates of HNSW; default: 100")
    server.add_argument(
        "--filter", action="append", metavar="KEY=VALUE", help="only passages with this metadata; may be repeated"
    )


def _add_server(group) -> None:  # type: ignore[no-untyped-def]
    group.add_argument("--url", metavar="URL", help="of the server, comma between nodes; default: OPENSEARCH_URL")
    group.add_argument("--aws-region", metavar="REGION", help="sign requests for AWS (SigV4)")


def _add_opensearch(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "opensearch",
        "list the indexes that ragassay made on an OpenSearch server, or remove some",
        "ragassay.cli.verbs.opensearch:opensearch",
    )
    verb.add_argument("action", choices=["list", "remove"], help="what to do")
    verb.add_argument("--index", action="append", default=[], metavar="NAME", help="with remove: which; repeatable")
    verb.add_argument("--old", action="store_true", help="with remove: each that another index took the alias from")
    _add_server(verb)


def _add_score(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs, "score", "score a TREC run against qrels (TREC or BEIR)", "ragassay.cli.verbs.on_files:score"
    )
    verb.add_argument("--qrels", type=path_of, required=True, metavar="FILE", help="qrels, TREC or BEIR layout")
    verb.add_argument("--run", type=path_of, required=True, metavar="FILE", help="a TREC run")
    verb.add_argument(
        "--measure", action="append", required=True, metavar="M", help="nDCG@10, RR(rel=2)@5, R@100, …; may be repeated"
    )
    _add_sections(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_sections(verb) -> None:  # type: ignore[no-untyped-def]
    verb.add_argument(
        "--sections",
        type=path_of,
        metavar="QUERIES",
        help="BEIR's queries.jsonl with metadata.section: queries of one section are taken together in every interval "
        "(default: each stands alone)",
    )


def _add_rate(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(verbs, "rate", "rate agents from a file of pairwise games", "ragassay.cli.verbs.on_files:rate")
    verb.add_argument("--games", type=path_of, required=True, metavar="JSONL", help="games.jsonl")
    verb.add_argument(
        "--method", choices=["elo", "bradley-terry"], default="bradley-terry", help="default: bradley-terry"
    )
    verb.add_argument(
        "--ties",
        choices=["davidson", "half"],
        default="davidson",
        help="of Bradley-Terry: Davidson's tie parameter, or a tie as half a win for each; default: davidson",
    )
    verb.add_argument("--k-factor", type=float, default=4.0, metavar="K", help="of Elo; default: 4")
    verb.add_argument(
        "--initial", type=float, default=500.0, metavar="R", help="the rating all start from; default: 500"
    )
    verb.add_argument("--tournaments", type=int, default=500, metavar="N", help="of Elo, shuffled; default: 500")
    verb.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="replicates; default: 1000")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="default: 7")
    _add_sections(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_plot(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "plot",
        "draw box plots of every measure, of one run or several side by side",
        "ragassay.cli.verbs.plot:plot",
    )
    verb.add_argument("figures", type=path_of, nargs="+", metavar="RESULTS", help="results.json, or its folder")
    verb.add_argument("--out", type=path_of, required=True, metavar="HTML", help="the page to write")
    verb.add_argument("--measure", action="append", metavar="M", help="only these, may be repeated; default: all")


def _add_consistency(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "consistency",
        "say how far the answers of several runs agree: BERTScore, ROUGE, and the spread of every measure",
        "ragassay.cli.verbs.consistency:consistency",
    )
    add_corpus(verb, needed=False)
    verb.add_argument(
        "--answers", action="append", type=path_of, metavar="JSONL", help="instead of CORPUS: answers, a run a file"
    )
    verb.add_argument(
        "--embedding",
        default="all-MiniLM-L6-v2",
        metavar="MODEL",
        help="of BERTScore, with --answers; default: all-MiniLM-L6-v2",
    )
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_gate(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "gate",
        "say whether a run is worse than a baseline over the same queries, for CI",
        "ragassay.cli.verbs.gate:gate",
    )
    verb.epilog = "exit status: 0 not worse; 1 worse beyond noise and beyond --max-drop; 3 undecided; 2 bad input"
    verb.add_argument("new", type=path_of, metavar="NEW", help="the results folder to judge")
    verb.add_argument("--baseline", type=path_of, required=True, metavar="OLD", help="the results folder to hold it to")
    verb.add_argument(
        "--measure", action="append", default=[], metavar="M", help="RR(rel=2)@5, accuracy, …; may be repeated"
    )
    verb.add_argument("--agent", action="append", default=[], metavar="NAME", help="default: all that both runs have")
    verb.add_argument(
        "--max-drop",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="tolerated, as a share of a measure's range; default: 0.02",
    )
    verb.add_argument("--markdown", type=path_of, metavar="FILE", help="also write the summary here")


def _add_agree(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "agree",
        "say how far judges agree with people: kappa, Krippendorff's alpha, tau-b, precision, recall, …",
        "ragassay.cli.verbs.agreement:agree",
    )
    verb.add_argument("--labels", type=path_of, metavar="FILE", help="a table of labels: CSV, TSV or JSON Lines")
    verb.add_argument("--human", metavar="COL", help="the column of people's labels")
    verb.add_argument("--judge", action="append", metavar="COL", help="a judge's column; may be repeated")
    verb.add_argument("--by", metavar="COL", help="the column that names the query; default: query_id, if it is there")
    verb.add_argument(
        "--qrels", action="append", type=path_of, metavar="FILE", help="instead: people's qrels, then the judge's"
    )
    verb.add_argument("--relevant", metavar="LABEL", help="the lowest label that counts as relevant")
    verb.add_argument("--scale", metavar="L,L,…", help="the labels in order, where they are words or some never occur")
    verb.add_argument("--plot", type=path_of, metavar="HTML", help="write the Bland-Altman plot here")
    _add_draws(verb)


def _add_agree_systems(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "agree-systems",
        "say whether two sets of labels put systems in the same order: tau-b and Spearman's rho",
        "ragassay.cli.verbs.agreement:agree_systems",
    )
    verb.add_argument("--qrels", action="append", type=path_of, metavar="FILE", help="qrels, TREC or BEIR; given twice")
    verb.add_argument("--runs", type=path_of, metavar="DIR", help="a folder of TREC runs, one a system")
    verb.add_argument("--measure", metavar="M", help="nDCG@10, RR(rel=2)@5, …")
    verb.add_argument("--scores", type=path_of, metavar="FILE", help="instead: a table of system, score, score")
    _add_draws(verb)


def _add_meta_eval(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "meta-eval",
        "hold an evaluator against a labelled set: precision, recall, F1, kappa, off-by-one accuracy, …",
        "ragassay.cli.verbs.meta_eval:meta_eval",
    )
    verb.add_argument("--judge", required=True, metavar="NAME", help="an evaluator: see `ragassay judges`")
    verb.add_argument(
        "--labelled",
        type=path_of,
        required=True,
        metavar="FILE",
        help="rows (JSON Lines, CSV, TSV) of claim, document, label; of question, answer, expected, label; or of "
        "question, answer; or qrels (TREC, BEIR) with --passages and --queries",
    )
    verb.add_argument(
        "--kind", choices=["relevance", "claims", "answers", "correctness"], help="default: by the fields"
    )
    verb.add_argument("--passages", type=path_of, metavar="JSONL", help="what the qrels label (BEIR)")
    verb.add_argument("--queries", type=path_of, metavar="JSONL", help="what they label it for (BEIR)")
    verb.add_argument(
        "--negatives", type=path_of, metavar="RUN", help="a TREC run: its first passages without a label count as 0"
    )
    verb.add_argument("--depth", type=int, default=10, metavar="K", help="how many of --negatives' first; default: 10")
    verb.add_argument(
        "--relevant",
        action="append",
        default=[],
        metavar="LABEL",
        help="people's label that counts: the lowest number, or a word (may be repeated)",
    )
    verb.add_argument(
        "--binary-at",
        type=float,
        metavar="X",
        help="the judge's lowest label that counts; default: 2 of 0 to 3, else the middle of the scale",
    )
    verb.add_argument("--criterion", metavar="NAME", help="which figure of a judge that gives several")
    verb.add_argument("--n", type=int, metavar="N", help="rows drawn at random; default: all")
    verb.add_argument("--balance", action="store_true", help="draw half of them from the labels that count")
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the judge, as in [evaluate.settings]; may be repeated",
    )
    verb.add_argument("--model", metavar="MODEL", help="provider:name")
    verb.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    verb.add_argument("--mode", choices=["auto", "label", "probability"], help="how the model is asked")
    verb.add_argument(
        "--config", type=path_of, metavar="TOML", help="an experiment.toml for models, settings, own judges"
    )
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before spending more than this")
    verb.add_argument("--out", type=path_of, metavar="JSONL", help="the judgments to write")
    verb.add_argument("--work", type=path_of, metavar="DIR", help="requests and replies (default: results/meta-eval)")
    _add_draws(verb)


def _add_draws(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="replicates; default: 1000")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="default: 7")
    verb.add_argument("--json", action="store_true", help="print JSON")
