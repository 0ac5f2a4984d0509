"""Whether a system of the user's own can take part, told before anything is paid."""

from __future__ import annotations

from ragassay.errors import InputError
from ragassay.experiment.own_code import importable
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace

from .own_source import source_problem
from .python_agent import load_python_agent

_PLAIN = "name a plain function from the query's text to its answer"


def check_own_agent(agent: AgentSettings, workspace: Workspace, *, run_code: bool) -> None:
    """Raises InputError for a callable that cannot be imported or does not take a query's text alone.

    Its module is imported only where the user's code may `run_code`; without, what its source tells is checked. For a
    file of answers that is not there it is raised where the queries are: those that models write come first.
    """
    if agent.kind == "python":
        _check_callable(agent, workspace, run_code=run_code)
    elif not (workspace.corpus / str(agent.path)).exists():
        own = workspace.experiment.questions.source == "own"
        if own or workspace.queries.exists():
            queries = workspace.own_queries if own else workspace.queries
            remedy = f"answer the queries of {queries} with it and put the answers there"
            file = workspace.corpus / str(agent.path)
            raise InputError(f"agent '{agent.name}' has no answers yet", file=file, remedy=remedy)


def _check_callable(agent: AgentSettings, workspace: Workspace, *, run_code: bool) -> None:
    if run_code:
        with importable(workspace.corpus):
            load_python_agent(agent, workspace).close()
    if problem := source_problem(str(agent.callable), workspace.corpus):
        settings = workspace.corpus / "experiment.toml"
        raise InputError(f"agent '{agent.name}': {agent.callable}: {problem}", file=settings, remedy=_PLAIN)
