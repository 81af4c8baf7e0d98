"""Checks the nodes' chains in a bundle: is each event at its position, is one missing, do two claim one position?

A node signs, with each event, its position in the node's chain and the hash of the event before. An event left out
before it reached the log, or signed twice with a copied key, shows only here: the log's tree proves only what the log
received.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from headwater.audit.core import Report
from headwater.graph.nodes import Epoch, Nodes, Trouble, troubles
from headwater.model.facts import ChainLink
from headwater.model.words import so_many

_CONTRADICTIONS: Final = ("fork", "broken")
_MOST_EPOCHS: Final = 3
"""Most epochs that are named one by one; of more, the number."""
_MOST_HOLES: Final = 3
"""Most gaps per node that are named one by one; of more, the number."""
_MOST_DOUBTFUL: Final = 3
"""Most unproven contradictions that are named one by one."""


def check_chains(links: Iterable[ChainLink], report: Report) -> None:
    """Report for each node the positions of its chain that the entries fill; two events at one are a finding.

    A gap is no finding: the log cannot contain what never reached it, and a bundle may cover only a part of the log.
    Gaps are reported as unknown. So is an event that contradicts others but was signed by no key that counted:
    otherwise anybody who may post could incriminate a node permanently. Iterates over `links` twice.
    """
    nodes = _nodes(links)
    claimed = (
        nodes if all(link.is_proved for link in links) else _nodes(replace(link, is_proved=True) for link in links)
    )
    counted, all_claims = nodes.epochs, claimed.epochs
    for node_id, epochs in sorted(counted.items()):
        found, doubtful = _parted(epochs, all_claims[node_id], is_proved=nodes.is_proved(node_id))
        report.checked.append(f"chain: node {node_id}: {_standing(epochs)}; {_summed(found)}")
        holes = [trouble for trouble in found if trouble.kind == "hole"]
        for trouble in [each for each in found if each.kind != "hole"] + holes[:_MOST_HOLES]:
            _report(node_id, trouble, report)
        if more := holes[_MOST_HOLES:]:
            events = sum(trouble.events for trouble in more)
            summary = f"{so_many(len(more), 'more gap')}: {so_many(events, 'event')}"
            report.not_known.append(f"what node {node_id} sent at {summary}")
        for trouble in doubtful[:_MOST_DOUBTFUL]:
            where = f"node {node_id}, epoch {trouble.epoch}, {_places(trouble)}"
            report.not_known.append(f"who contradicts {where}: {trouble.words}, not all by a valid key")
        if (doubts := len(doubtful) - _MOST_DOUBTFUL) > 0:
            report.not_known.append(f"who contradicts node {node_id} at {so_many(doubts, 'more place')}")
    if not counted:
        report.not_known.append("whether a node sent more than this: no event here names its place in a node's record")


def _nodes(links: Iterable[ChainLink]) -> Nodes:
    nodes = Nodes()
    for link in links:
        nodes.add(link)
    return nodes


def _parted(
    epochs: Mapping[str, Epoch], claimed: Mapping[str, Epoch], *, is_proved: bool
) -> tuple[list[Trouble], list[Trouble]]:
    """The inconsistencies and contradictions of a record; and separately those that only unproved links add.

    `claimed` is the record as if all links were proved.
    """
    found = list(troubles(epochs, now_us=0))  # without silence, which is about today
    certain = [each for each in found if is_proved and each.kind in _CONTRADICTIONS]
    known = {(each.kind, each.epoch, each.first) for each in certain}
    contradictions = [each for each in troubles(claimed, now_us=0) if each.kind in _CONTRADICTIONS]
    doubtful = [each for each in contradictions if (each.kind, each.epoch, each.first) not in known]
    return [*certain, *(each for each in found if each.kind not in _CONTRADICTIONS)], doubtful


def _standing(epochs: Mapping[str, Epoch]) -> str:
    events = sum(epoch.events for epoch in epochs.values())
    newest = sorted(epochs.items(), key=lambda each: each[1].received.last_us, reverse=True)
    named = [f"{min(epoch.links)} to {epoch.last} of epoch {name}" for name, epoch in newest[:_MOST_EPOCHS]]
    more = [f"and {so_many(len(epochs) - _MOST_EPOCHS, 'epoch')} before"] if len(epochs) > _MOST_EPOCHS else []
    return f"{so_many(events, 'event')} at places {', '.join([*named, *more])}"


def _summed(found: Iterable[Trouble]) -> str:
    missing = {"hole": 0, "fork": 0, "broken": 0}
    for trouble in found:
        if trouble.kind in missing:
            missing[trouble.kind] += trouble.events if trouble.kind == "hole" else 1
    return f"{missing['hole']:,} missing, {so_many(missing['fork'], 'fork')}, {missing['broken']:,} inconsistent"


def _report(node_id: str, trouble: Trouble, report: Report) -> None:
    where = f"node {node_id}, epoch {trouble.epoch}, {_places(trouble)}"
    if trouble.kind in _CONTRADICTIONS:
        report.find("chain", None, f"{where}: {trouble.words}")
    elif trouble.kind == "hole":
        withheld = ", or among those not shown" if report.counts["withheld"] else ""
        report.not_known.append(f"what {where} sent: {trouble.words} from these entries{withheld}")
    elif trouble.kind == "dropped":
        report.not_known.append(f"what {where} dropped: {trouble.words}")
    elif trouble.kind == "replay":
        report.not_known.append(f"why {where} was sent again: {trouble.words}")
    elif trouble.kind == "erased":
        report.not_known.append(f"what {where} sent: {trouble.words}")


def _places(trouble: Trouble) -> str:
    if trouble.first == trouble.last:
        return f"place {trouble.first}"
    return f"places {trouble.first} to {trouble.last}"
