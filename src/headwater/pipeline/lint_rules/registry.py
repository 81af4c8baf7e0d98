"""All lint rules, in the order of their ids."""

from typing import Final

from headwater.pipeline.lint_rules import document, frames, operation, outputs, queries, safety, stars
from headwater.pipeline.lint_rules.rule import Rule

DOES_NOT_CHECK: Final = "HW000"
"""The rule id for problems of an invalid file; it cannot be silenced."""

_CHECKS = (document, frames, stars, queries, outputs, operation, safety)
_FOUND_BY_RULE = tuple(rule for module in _CHECKS for rule in module.RULES)

RULES: Final[tuple[Rule, ...]] = tuple(
    sorted(
        (*_FOUND_BY_RULE, document.unknown_ignored({DOES_NOT_CHECK, "HW005", *(rule.id for rule in _FOUND_BY_RULE)})),
        key=lambda rule: rule.id,
    )
)
