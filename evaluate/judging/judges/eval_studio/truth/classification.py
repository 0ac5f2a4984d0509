"""Classification: the answer as the name of a class, held against the expected one.

Each answer is 1 where it names the class that `metadata.expected_response` names (any of its lines, where there are
several) and else 0. Names are compared in lower case without the space, quotation marks, asterisks and full stop around
them. The classes are those of the option `classes`, or else all that the run expects; an answer that is none of them is
wrong, of whatever class it should have been. `details` keep both classes, from which `evaluate/figures/classes.py`
makes accuracy, precision, recall and F1 of a whole run.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Evaluator, Options
from .references import references

_AROUND = " \t\r\n\"'`*_.\u2018\u2019\u201c\u201d\u00ab\u00bb\u3002"


class ClassificationOptions(Options):
    """classes: the names of the classes; empty: whatever the run expects."""

    classes: tuple[str, ...] = ()


class Classification(Evaluator):
    """Compares the class that an answer names with the expected one."""

    name = "classification"
    family = "eval-studio-truth"
    about = "whether the answer is the expected class; of a run accuracy, precision, recall and F1; asks no model"
    needs = ("expected_response",)
    calls = 0.0
    reads = ("expected_response", "answer")
    asks = "nothing"
    source = "H2O Eval Studio, classification; scikit-learn's precision_recall_fscore_support"
    tags = ("valid and reliable", "outcomes analysis")
    options: ClassificationOptions
    options_type = ClassificationOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Right or wrong."""
        return (Criterion(self.name, threshold=0.5),)

    @property
    def judge(self) -> str:
        """The ground truth: nobody judges."""
        return "expected_response"

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """One record; an error where the expected response is none of the classes that the options name."""
        given = class_of(case.text)
        expected = [class_of(line) for line in references(case.query)]
        classes = {class_of(name) for name in self.options.classes}
        if classes and not classes.issuperset(expected):
            return [self.fail(case, f"{NO_VALUE}the expected response is none of the classes that are set")]
        right = given in expected
        detail = {"expected": given if right else expected[0], "given": given, "classes": sorted(classes)}
        return [self.assess(case, float(right), details=[detail])]


def class_of(text: str) -> str:
    """A class's name as it is compared."""
    return " ".join(text.split()).strip(_AROUND).casefold()
