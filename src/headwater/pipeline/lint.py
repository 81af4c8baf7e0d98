"""`headwater lint`: warnings about valid pipeline files.

A rule is silenced for the whole file by `lint: {ignore: [HW301]}`, and for one place by a comment
`# headwater: ignore HW301` on its line, or alone on the line above. For a `|` block of SQL it may also be on the line
of the `|`, alone above that, or alone as the block's first line, there also as an SQL comment: `-- headwater: …`.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from headwater.pipeline.check import Checked, check_source, read_source
from headwater.pipeline.checking.problems import Path as KeyPath
from headwater.pipeline.checking.problems import dotted, one_line
from headwater.pipeline.lint_rules.registry import DOES_NOT_CHECK, RULES
from headwater.pipeline.lint_rules.rule import Subject

_SILENCED = re.compile(r"(?P<alone>^\s*)?(?:#|--).*?\bheadwater:\s*ignore\s+(?P<rules>HW\d{3}(?:[\s,]+HW\d{3})*)")


class Finding(NamedTuple):
    """A broken rule; `line` counts from 1."""

    rule: str
    line: int
    path: str
    message: str


def lint_pipeline(path: Path, environment: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """The findings in a file, in its order; for an invalid file, its problems as rule HW000.

    Args:
        path: the pipeline file.
        environment: the values of `${NAME}`, by default the process's; an unset variable is not a finding.

    Raises:
        InvalidPipelineError: the file cannot be read.
    """
    source = read_source(path)
    checked = check_source(source, path, {}, os.environ if environment is None else environment, keep_unset=True)
    if checked.spec is None:
        return tuple(_problems(checked))
    silenced = _Silenced(source.decode("utf-8-sig"))
    ignored = frozenset(checked.spec.lint.ignore)
    findings = (
        each for each in _findings(Subject(checked.spec, checked.written), silenced) if each.rule not in ignored
    )
    return tuple(sorted(set(findings), key=lambda each: (each.line, each.rule, each.path, each.message)))


def _problems(checked: Checked) -> Iterator[Finding]:
    for problem in checked.problems:
        yield _finding(DOES_NOT_CHECK, problem.mark.line, problem.path, problem.message)


def _findings(subject: Subject, silenced: "_Silenced") -> Iterator[Finding]:
    for rule in RULES:
        for hit in rule.find(subject):
            line = subject.line(hit.path, hit.line_in_text)
            is_silenced = rule.id in silenced.at(line)
            if subject.is_block(hit.path):
                is_silenced |= rule.id in silenced.of_block(subject.begins(hit.path))
            if not is_silenced:
                yield _finding(rule.id, line, hit.path, hit.message)


def _finding(rule: str, line: int, path: KeyPath, message: str) -> Finding:
    return Finding(rule, line, one_line(dotted(path)), one_line(message))


class _Silenced:
    """The rules that comments in a file silence, and the lines of these."""

    def __init__(self, text: str) -> None:
        self._same_line: dict[int, set[str]] = {}
        self._line_before: dict[int, set[str]] = {}
        """By the comment's own line."""
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
            if found := _SILENCED.search(line):
                by_line = self._same_line if found["alone"] is None else self._line_before
                by_line[number] = set(re.findall(r"HW\d{3}", found["rules"]))

    def at(self, line: int) -> set[str]:
        """The rules silenced in a line."""
        return self._same_line.get(line, set()) | self._line_before.get(line - 1, set())

    def of_block(self, begins: int) -> set[str]:
        """The rules silenced in a whole `|` block."""
        return self.at(begins) | self._line_before.get(begins + 1, set())
