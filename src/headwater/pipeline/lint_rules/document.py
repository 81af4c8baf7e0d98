"""Rules about the file's own version, owner, description and names."""

import re
from collections.abc import Collection
from typing import Final

from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject

_KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def _schema_version(subject: Subject) -> Hits:
    if subject.spec.schema_version is None:
        yield Hit((), "missing key 'schema_version'; read as 1")


def _owner(subject: Subject) -> Hits:
    if not subject.spec.owners:
        yield Hit((), "the pipeline has no owner")


def _description(subject: Subject) -> Hits:
    if subject.spec.description is None:
        yield Hit((), "no description")


def _names(subject: Subject) -> Hits:
    spec = subject.spec
    if not _KEBAB.fullmatch(spec.name):
        yield Hit(("name",), f"{spec.name!r} should be lower-case words joined by hyphens")
    for name, each in spec.inputs.items():
        if not _SNAKE.fullmatch(name):
            yield Hit(
                tuple(each.location.path.split(".")), f"{name!r} should be lower-case words joined by underscores"
            )
    for processor in spec.processors:
        if processor.name and not _SNAKE.fullmatch(processor.name):
            path = (*processor.location.path.split("."), "name")
            yield Hit(path, f"{processor.name!r} should be lower-case words joined by underscores")


def unknown_ignored(known: Collection[str]) -> Rule:
    """The rule about silencing rules that do not exist."""

    def find(subject: Subject) -> Hits:
        for index, ignored in enumerate(subject.spec.lint.ignore):
            if ignored not in known:
                yield Hit(("lint", "ignore", str(index)), f"no rule {ignored}")

    return Rule(
        "HW005",
        "an unknown rule is silenced",
        "With a typing error here, the intended rule stays active or another one is silenced.",
        "Correct the rule's id, or remove it.",
        find,
    )


RULES: Final = (
    Rule(
        "HW001",
        "schema_version is missing",
        "Without it, a later Headwater cannot know which version of the format the file uses, and may interpret it"
        " differently.",
        "Write `schema_version: 1`.",
        _schema_version,
    ),
    Rule(
        "HW002",
        "no owner",
        "People affected by wrong data find the job in the lineage graph, but nobody to ask.",
        "Write `owner: team-name`, or `owners:` with a list.",
        _owner,
    ),
    Rule(
        "HW003",
        "no description",
        "The page and the search show the description next to the name, for people who do not know the name.",
        "Write `description:` with a sentence on what the data is and who uses it.",
        _description,
    ),
    Rule(
        "HW004",
        "a name against the naming convention",
        "Names are typed in commands, URLs and SQL; one in mixed case or with spaces must be quoted everywhere.",
        "Name pipelines `like-this`, inputs and processors `like_this`.",
        _names,
    ),
)
