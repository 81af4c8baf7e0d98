"""A walk for people: many columns of a dataset that are reached together are folded into one node with their number."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from headwater.cli.lineage_walk import WHOLE, Step, Walk, is_whole
from headwater.cli.printed import Line
from headwater.graph.walk import reachable

_MOST_APART: Final = 10
"""Up to this many columns of a dataset, or columns that lead on by themselves, stay separate nodes."""


def folded(walked: Walk, notes: Mapping[str, Line]) -> tuple[Walk, Mapping[str, Line]]:
    """The folded walk, and notes by node id, which include the number of columns that a node stands for.

    Columns with different notes stay separate, and so does a column that is not reached as part of its whole dataset.
    """
    through = {walked.far_end(step): whole for whole in filter(is_whole, walked.hops) for step in _on(walked, whole)}
    stands_for: dict[str, str] = {}
    labels, all_notes = dict(walked.labels), dict(notes)
    for columns in _alike(walked, notes):
        dataset, node = walked.dataset_of[columns[0]], through.get(columns[0], "")
        count = Counter(through.values())[node]
        if not count or node in all_notes:
            node, count = f"columns-{len(all_notes)}:{dataset}", len(columns)
        labels[node] = walked.labels[dataset]
        all_notes[node] = Line(f"  {count:,} columns", style="dim").append(notes.get(columns[0], Line()))
        stands_for |= dict.fromkeys(columns, node)
    ends = {each: stands_for.get(each, each) for each in walked.hops}
    steps = dict.fromkeys(
        Step(ends[source], ends[target], how)
        for source, target, how in walked.steps
        if ends[source] != ends[target] or source == target == walked.start  # unless it is the only step
    )
    hops: dict[str, int] = {}
    for each, distance in walked.hops.items():
        hops.setdefault(ends[each], distance)
    return replace(walked, hops=hops, steps=tuple(steps), labels=labels), all_notes


def _on(walked: Walk, whole: str) -> Iterator[Step]:
    """The steps from a whole dataset to each of its columns."""
    return (step for step in walked.next_steps(whole) if WHOLE in step.how)


def _alike(walked: Walk, notes: Mapping[str, Line]) -> list[list[str]]:
    """Groups of many columns of one dataset with the same note, largest first."""

    def onward_by_name(node: str) -> Iterator[str]:
        return (walked.far_end(step) for step in walked.next_steps(node) if not (is_whole(node) and WHOLE in step.how))

    named = reachable([walked.start], onward_by_name, len(walked.steps))
    groups: dict[tuple[str, str], list[str]] = {}
    for node in walked.hops:
        if node in walked.dataset_of and node not in named:
            groups.setdefault((walked.dataset_of[node], notes.get(node, Line()).plain), []).append(node)
    many = (_without_few(walked, columns) for columns in groups.values())
    return sorted((columns for columns in many if len(columns) > _MOST_APART), key=len, reverse=True)


def _without_few(walked: Walk, columns: list[str]) -> list[str]:
    """The columns without those that lead on by themselves, if these are few."""
    apart = {each for each in columns if not all(is_whole(walked.far_end(step)) for step in walked.next_steps(each))}
    return columns if len(apart) > _MOST_APART else [each for each in columns if each not in apart]
