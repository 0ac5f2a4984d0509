"""The evaluators of H2O Eval Studio, by what they look at; where they are described, and the tags of most."""

H2O_PAGE = "https://docs.h2o.ai/eval-studio-docs/evaluators"
TAGS = ("safe", "conceptual soundness", "outcomes analysis")
