"""Ranks findings: likeliest cause first, causes before their consequences.

A finding is a consequence if something further up went wrong earlier, and counts half. So does a change of a column
that a run wrote, if the same happened to a column of that name that it read; and what is found in the columns, rows or
checks of a job's output, if the job's code or parameters had changed before. Changes that people make are never
consequences. Ties are broken by time, then distance from the output, then reads before writes, then kind and name, so
that the order does not depend on the order of arrival.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from headwater.graph.causes.finding import Finding, Rule
from headwater.graph.causes.history import History
from headwater.graph.causes.rules.code import code_changes
from headwater.graph.causes.rules.freshness import freshness_gaps, silent_streams
from headwater.graph.causes.rules.lifecycle import lifecycle_changes
from headwater.graph.causes.rules.missing import missing_runs
from headwater.graph.causes.rules.newcomers import new_writers
from headwater.graph.causes.rules.quality import failed_checks
from headwater.graph.causes.rules.reruns import reruns
from headwater.graph.causes.rules.runs import failed_runs
from headwater.graph.causes.rules.schedules import older_inputs
from headwater.graph.causes.rules.schema import changes_meanwhile, declared_changes, schema_changes
from headwater.graph.causes.rules.sources import changed_sources
from headwater.graph.causes.rules.volume import volume_jumps
from headwater.graph.causes.trail import Start, Trail, trail
from headwater.model.words import so_many

RULES: Final[tuple[Rule, ...]] = (
    schema_changes,
    declared_changes,
    changes_meanwhile,
    lifecycle_changes,
    failed_runs,
    missing_runs,
    failed_checks,
    volume_jumps,
    code_changes,
    changed_sources,
    new_writers,
    reruns,
    silent_streams,
    freshness_gaps,
    older_inputs,
)

_EXPLAINS: Final = 0.35
"""From this weight on, a finding explains later ones."""
_CONSEQUENCE: Final = 0.5
_OWN_DOING: Final = frozenset(
    {"code-change", "parameter-change", "engine-change", "lifecycle-change", "new-writer", "rerun"}
)
"""Changes that people make, which no data causes."""
_OF_JOB: Final = frozenset({"code-change", "parameter-change"})
"""Changes that explain what the job wrote from then on; a rerun, only what it wrote itself."""
_OF_OUTPUT: Final = frozenset({"schema-change", "volume-jump", "failed-check"})
"""Findings about what a job wrote."""


class Cause(NamedTuple):
    """A finding with its score from 0 to 1; a consequence is explained by another finding further up."""

    finding: Finding
    score: float
    is_consequence: bool


class Causes(NamedTuple):
    """The findings, likeliest cause first, and the trail that was searched."""

    ranked: tuple[Cause, ...]
    trail: Trail


def causes(history: History, start: Start, max_hops: int) -> Generator[None, None, Causes]:
    """The changes and failures in the runs that a walk starts with, and in everything that fed them.

    Yields between steps, so that other work can run.
    """
    looked_at = yield from trail(history, start, max_hops)
    found: list[Finding] = []
    for visit in looked_at.visits:
        found += (finding for rule in RULES for finding in rule(visit, history))
        yield
    return Causes(tuple(ranked(_deduplicated(found), looked_at)), looked_at)


def ranked(found: Sequence[Finding], looked_at: Trail) -> list[Cause]:
    """The findings with their scores, best first; a consequence scores at most what explains it does."""
    above = _runs_above(looked_at)
    explained_by = [[place for place, cause in enumerate(found) if _explains(cause, each, above)] for each in found]
    scores = [each.weight * (_CONSEQUENCE if by else 1) for each, by in zip(found, explained_by, strict=True)]
    is_settled = False
    while not is_settled:
        capped = [
            min(score, max(scores[place] for place in by)) if by else score
            for score, by in zip(scores, explained_by, strict=True)
        ]
        is_settled, scores = capped == scores, capped
    scored = zip(found, scores, explained_by, strict=True)
    return sorted((Cause(each, round(score, 3), bool(by)) for each, score, by in scored), key=_order)


def _order(cause: Cause) -> tuple[object, ...]:
    finding = cause.finding
    place = (-finding.hops, not finding.is_read)
    return (-cause.score, finding.at_us, *place, finding.kind, finding.node_id, finding.words, finding.runs)


def _explains(cause: Finding, finding: Finding, above: dict[str, set[str]]) -> bool:
    if cause is finding or finding.kind in _OWN_DOING:
        return False
    if cause.weight < _EXPLAINS or cause.at_us > finding.at_us or (cause.was_before and not finding.was_before):
        return False
    here, there = finding.visit.run.run_id, cause.visit.run.run_id
    is_above = not above[here].isdisjoint((there, cause.runs[0]))
    is_between = there == here and cause.is_of_feed and not finding.is_of_feed
    is_passed_on = there == here and cause.is_read and not finding.is_read and bool(cause.columns & finding.columns)
    is_of_output = finding.kind in _OF_OUTPUT and not finding.is_read
    is_of_job = cause.kind in _OF_JOB and cause.visit.run.job == finding.visit.run.job
    is_own = is_of_output and (is_of_job or (cause.kind == "rerun" and there == here))
    return is_above or is_between or is_passed_on or is_own


def _runs_above(looked_at: Trail) -> dict[str, set[str]]:
    """For each run, every visited run that fed it, directly or not."""
    feeds = {visit.run.run_id: [writer.run.run_id for _, writer, _ in visit.fed_by] for visit in looked_at.visits}
    above: dict[str, set[str]] = {}
    for run_id in feeds:
        gone: set[str] = set()
        waiting = list(feeds[run_id])
        while waiting:
            here = waiting.pop()
            if here not in gone and here in feeds:
                gone.add(here)
                waiting += feeds[here]
        above[run_id] = gone - {run_id}
    return above


def _deduplicated(found: Iterable[Finding]) -> list[Finding]:
    """One finding of those that agree: the first in time, with the greatest weight among them.

    A reader's finding about a dataset goes if its writer has the same one, and so does one that comes back in a later
    run.
    """
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in found:
        alike.setdefault((finding.kind, finding.node_id, finding.what or finding.words), []).append(finding)
    return [_first(each) for each in alike.values()]


def _first(alike: Sequence[Finding]) -> Finding:
    first = min(alike, key=_place)
    if first.kind != "volume-jump" or len(alike) == 1:
        return first
    likewise = so_many(len({each.visit.run.run_id for each in alike}) - 1, "later run")
    runs = dict.fromkeys((first.runs[0], *(each.runs[0] for each in sorted(alike, key=_place)), *first.runs))
    return replace(
        first,
        weight=max(each.weight for each in alike),
        words=f"{first.words}; {likewise} did likewise",
        runs=tuple(runs),
    )


def _place(finding: Finding) -> tuple[bool, int, bool, int]:
    is_of_later_run = finding.runs[0] != finding.visit.run.run_id
    return finding.was_before, finding.at_us, is_of_later_run, -finding.hops
