"""The nodes' own records in a bundle: is each event at its place, is one missing, do two claim the same?

A node signs, with each event, its place in the node's record and the hash of the event before. So what was left out
before it came to the log, or signed twice by a copy of the key, shows here and nowhere else: the log's tree proves
only what the log took.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from headwater.audit.core import Report
from headwater.graph.nodes import Epoch, Nodes, Trouble, troubles
from headwater.model.facts import ChainLink

_CONTRADICTIONS: Final = ("fork", "broken")
_MOST_EPOCHS: Final = 3
"""Named one by one; of more, how many there are."""
_MOST_HOLES: Final = 3
"""Of each node, named one by one; of more, how many there are."""
_MOST_DOUBTFUL: Final = 3
"""The same of contradictions by who may be anybody."""


def check_chains(links: Iterable[ChainLink], report: Report) -> None:
    """Tell of each node which places of its record the entries fill; two events for one place are a finding.

    A hole is none: the log cannot help what never came to it, and a bundle may be about a part of the log. It is told
    among what is not known, and so is an event that contradicts others and was signed by no key that counted: else
    whoever may post one could have any node accused, for good. `links` is gone over twice.
    """
    nodes = _nodes(links)
    proved = nodes if all(link.is_proved for link in links) else _nodes(link for link in links if link.is_proved)
    for node_id, epochs in sorted(nodes.epochs.items()):
        found, doubtful = _parted(epochs, proved.epochs.get(node_id, {}))
        report.checked.append(f"chain: node {node_id}: {_standing(epochs)}; {_summed(found)}")
        holes = [trouble for trouble in found if trouble.kind == "hole"]
        for trouble in [each for each in found if each.kind != "hole"] + holes[:_MOST_HOLES]:
            _tell(node_id, trouble, report)
        if more := holes[_MOST_HOLES:]:
            events = sum(trouble.events for trouble in more)
            report.not_known.append(f"what node {node_id} said at {len(more):,} more stretches: {events:,} events")
        for trouble in doubtful[:_MOST_DOUBTFUL]:
            where = f"node {node_id}, epoch {trouble.epoch}, {_places(trouble)}"
            report.not_known.append(f"who contradicts {where}: {trouble.words}, not all by a key that counted")
        if (doubts := len(doubtful) - _MOST_DOUBTFUL) > 0:
            report.not_known.append(f"who contradicts node {node_id} at {doubts:,} more places")
    if not nodes.epochs:
        report.not_known.append("whether a node sent more than this: no event here names its place in a node's record")


def _nodes(links: Iterable[ChainLink]) -> Nodes:
    nodes = Nodes()
    for link in links:
        nodes.add(link)
    return nodes


def _parted(epochs: Mapping[str, Epoch], proved: Mapping[str, Epoch]) -> tuple[list[Trouble], list[Trouble]]:
    """What does not fit, with contradictions of what was proved; and apart those that what was not proved adds."""
    found = list(troubles(epochs, now_us=0))  # without silence, which is about today
    certain = [each for each in troubles(proved, now_us=0) if each.kind in _CONTRADICTIONS]
    known = {(each.kind, each.epoch, each.first) for each in certain}
    contradictions = [each for each in found if each.kind in _CONTRADICTIONS]
    doubtful = [each for each in contradictions if (each.kind, each.epoch, each.first) not in known]
    return [*certain, *(each for each in found if each.kind not in _CONTRADICTIONS)], doubtful


def _standing(epochs: Mapping[str, Epoch]) -> str:
    events = sum(epoch.events for epoch in epochs.values())
    newest = sorted(epochs.items(), key=lambda each: each[1].received.last_us, reverse=True)
    named = [f"{min(epoch.places)} to {epoch.last} of epoch {name}" for name, epoch in newest[:_MOST_EPOCHS]]
    more = [f"and {len(epochs) - _MOST_EPOCHS:,} epochs before"] if len(epochs) > _MOST_EPOCHS else []
    return f"{events:,} events at places {', '.join([*named, *more])}"


def _summed(found: Iterable[Trouble]) -> str:
    missing = {"hole": 0, "fork": 0, "broken": 0}
    for trouble in found:
        if trouble.kind in missing:
            missing[trouble.kind] += trouble.events if trouble.kind == "hole" else 1
    return f"{missing['hole']:,} missing, {missing['fork']:,} forks, {missing['broken']:,} that do not fit"


def _tell(node_id: str, trouble: Trouble, report: Report) -> None:
    where = f"node {node_id}, epoch {trouble.epoch}, {_places(trouble)}"
    if trouble.kind in _CONTRADICTIONS:
        report.find("chain", None, f"{where}: {trouble.words}")
    elif trouble.kind == "hole":
        withheld = ", or among those that are not shown" if report.counts["withheld"] else ""
        report.not_known.append(f"what {where} said: {trouble.words} from these entries{withheld}")
    elif trouble.kind == "dropped":
        report.not_known.append(f"what {where} dropped: {trouble.words}")
    elif trouble.kind == "replay":
        report.not_known.append(f"why {where} came again: {trouble.words}")


def _places(trouble: Trouble) -> str:
    if trouble.first == trouble.last:
        return f"place {trouble.first}"
    return f"places {trouble.first} to {trouble.last}"
