"""`ragassay score`, `rate`, `plot`, `consistency` and `gate`: figures of files or of finished runs."""

from __future__ import annotations

import argparse

from ragassay.errors import InputError
from ragassay.text import plain

from ..terminal import (
    add,
    add_shared,
    interval_of,
    path_of,
    print_figures,
    print_json,
    print_notes,
    print_rows,
    value_of,
    write_junit,
)


def add_consistency(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, "[CORPUS]", "--results")
    add(verb, "--answers JSONL", "instead of CORPUS: answers, a run a file", action="append", type=path_of)
    add(verb, "--embedding MODEL", "of BERTScore, with --answers", default="all-MiniLM-L6-v2")
    add_shared(verb, "--json")


def run_consistency(options: argparse.Namespace) -> int:
    """Print the spread of every measure over CORPUS's runs, or over those in --answers."""
    from ragassay.evaluate.from_files.answers import of_experiment, of_files

    from ..pipeline.opening import locked, open_workspace

    if (options.corpus is None) == (not options.answers):
        raise InputError("needs CORPUS, or --answers once for each run", remedy="see `ragassay consistency --help`")
    if options.answers:
        found = of_files(options.answers, options.embedding)
    else:
        workspace = open_workspace(options)
        with locked(workspace):
            found = of_experiment(workspace)
    if options.json:
        print_json(found.dump())
        return 0
    rows = []
    for agent, measures in found.agents.items():
        for measure, spread in measures.items():
            mean, failed = spread.mean, f"{spread.n_values_failed} of {spread.n_values + spread.n_values_failed}"
            spreads = [value_of(spread.variance, ".4g"), value_of(spread.cv, ".4g")]
            numbers = [value_of(mean, ".4g"), interval_of(mean, ".3f"), *spreads]
            rows.append([agent, measure, *numbers, str(mean.n), str(mean.n_failed), failed])
    print_rows(("agent", "measure", "mean", "95% interval", "variance", "cv", "n", "undefined", "failed values"), rows)
    print(f"{found.n_runs} runs; BERTScore by {plain(found.embedding)}; variance and cv are within queries")
    return 0


def add_gate(verb: argparse.ArgumentParser) -> None:
    verb.epilog = "exit status: 0 not worse; 1 worse beyond noise and --max-drop; 3 undecided; 2 bad input"
    add(verb, "new NEW", "the results folder to judge", type=path_of)
    add(verb, "--baseline OLD", "the results folder to hold it to", type=path_of, required=True)
    add(
        verb,
        "--measure M",
        "RR(rel=2)@5, accuracy, an evaluator's criterion, …; may be repeated",
        action="append",
        default=[],
    )
    add(verb, "--agent NAME", "default: all that both runs have", action="append", default=[])
    add(
        verb,
        "--max-drop DROP",
        "tolerated, in the measure's own unit: 0.02 is 0.02 of MRR, and 0.02 of a label from 0 to 2; "
        "default: 2%% of each measure's range, if these queries can show so little",
        type=float,
    )
    add(verb, "--markdown FILE", "also write the summary here", type=path_of)
    add_shared(verb, "--junit")


def run_gate(options: argparse.Namespace) -> int:
    """Print a Markdown summary. 0: not worse; 1: worse; 3: undecided."""
    from ragassay.evaluate.from_files.gate import EXIT_STATUS, gate, line, markdown
    from ragassay.files import write_text

    result = gate(
        options.new, options.baseline, measures=options.measure, agents=options.agent, max_drop=options.max_drop
    )
    summary = markdown(result)
    if options.markdown is not None:
        write_text(options.markdown, summary)
    if options.junit is not None:
        outcomes = {"worse": "failure", "undecided": "skipped", "not worse": "passed"}
        cases = [(row.agent, row.measure, outcomes[row.verdict], line(row)) for row in result.rows]
        write_junit(options.junit, "ragassay gate", cases)
    print(summary, end="")
    return EXIT_STATUS[result.verdict]


def add_plot(verb: argparse.ArgumentParser) -> None:
    add(verb, "figures RESULTS", "results.json, or its folder", type=path_of, nargs="+")
    add(verb, "--out HTML", "the page to write", type=path_of, required=True)
    add(verb, "--measure M", "only these, may be repeated; default: all", action="append")


def run_plot(options: argparse.Namespace) -> int:
    """Write the page."""
    from ragassay.evaluate.report.page import read_runs
    from ragassay.evaluate.report.plots import box_plots
    from ragassay.files import write_text

    runs = read_runs(options.figures)
    write_text(options.out, box_plots(runs, options.measure or ()))
    print(f"{options.out}: {len(runs)} {'run' if len(runs) == 1 else 'runs'}")
    return 0


def add_rate(verb: argparse.ArgumentParser) -> None:
    add(
        verb,
        "--games FILE",
        "games: JSON Lines, .json, .csv or .tsv, in our columns, RAGElo's or LMSYS's; an order is not needed",
        type=path_of,
        required=True,
    )
    add(verb, "--method", choices=["elo", "bradley-terry"], default="bradley-terry")
    add(
        verb,
        "--ties",
        "of Bradley-Terry: Davidson's tie parameter, or a tie as half a win for each",
        choices=["davidson", "half"],
        default="davidson",
    )
    add(verb, "--k-factor K", "of Elo", type=float, default=4.0)
    add(verb, "--initial R", "the rating all start from", type=float, default=500.0)
    add(verb, "--tournaments N", "of Elo, shuffled", type=int, default=500)
    add_shared(verb, "--bootstrap", "--seed", "--sections", "--json")


def run_rate(options: argparse.Namespace) -> int:
    """Print each agent's rating with its interval and n, and how sure the order is."""
    from ragassay.evaluate.from_files.rate import rate_file
    from ragassay.records import Figure

    result = rate_file(
        options.games,
        options.method,
        k_factor=options.k_factor,
        initial=options.initial,
        tournaments=options.tournaments,
        seed=options.seed,
        bootstrap=options.bootstrap,
        ties=options.ties,
        sections=options.sections,
    )
    if options.json:
        print_json(result)
        return 0
    ratings = {name: Figure.model_validate(figure) for name, figure in result["ratings"].items()}
    ranks = {agent: str(low) if low == high else f"{low} to {high}" for agent, (low, high) in result["ranks"].items()}
    points = {agent: f"{row['value']:.3f}" for agent, row in result["points"].items() if row["value"] is not None}
    chances = {agent: f"{chance:.3f}" for agent, chance in result["verdict"]["p_best"].items()}
    print_figures(ratings, more={"points": points, "P(best)": chances, "rank": ranks}, interval_digits=".4g")
    print(plain(result["verdict"]["sentence"]))
    if result.get("triples"):
        print(f"{result['intransitive_triples']:,} of {result['triples']:,} triples of agents run in a circle")
    print_notes(filter(None, [result.get("note")]))
    return 0


def add_score(verb: argparse.ArgumentParser) -> None:
    add(verb, "--qrels FILE", "qrels, TREC or BEIR layout", type=path_of, required=True)
    add(verb, "--run FILE", "a TREC run", type=path_of, required=True)
    add(verb, "--measure M", "nDCG@10, RR(rel=2)@5, R@100, …; may be repeated", action="append", required=True)
    add_shared(verb, "--sections", "--json")


def run_score(options: argparse.Namespace) -> int:
    """Print each measure with its interval and n."""
    from ragassay.evaluate.from_files.rate import missing_queries, score_files

    figures = score_files(options.qrels, options.run, options.measure, sections=options.sections)
    if options.json:
        print_json({name: figure.dump() for name, figure in figures.items()})
        return 0
    print_figures(figures, interval_digits=".4g")
    if missing := missing_queries(options.qrels, options.run):
        print(f"note: queries of the qrels that the run lacks, each scored 0: {missing:,}")
    return 0
