"""Every judge as a function: `judges.correctness(query=…, answer=…, expected_response=…, model=…)`.

`dir(judges)` names them; judges.pyi has their signatures. Nothing is loaded before a function is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragassay.functions.judges import JudgeFunction


def named(name: str) -> JudgeFunction:
    """The function of a judge: of one of ours or another package's by its name, of your own by `module:Class`.

    Raises InputError for a name that there is not.
    """
    from ragassay.functions.judges import named

    return named(name)


def __getattr__(name: str) -> JudgeFunction:
    if name.startswith("_"):
        raise AttributeError(f"module 'ragassay.judges' has no attribute '{name}'")
    from ragassay.functions.judges import judge_function

    return judge_function(name)


def __dir__() -> list[str]:
    from ragassay.functions.judges import judge_names

    return [*judge_names(), "named"]
