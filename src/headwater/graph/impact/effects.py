"""What a proposed change does to each place that it reaches, and by which step.

The step from what is changed is judged by the change; every further one carries on what befell the place before it.
Of several steps into one place the worst counts: one broken input is enough.
"""

from collections import deque
from typing import Final, Literal, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.change import Change, fit
from headwater.graph.impact.reach import USES, Place, Reach, Step
from headwater.model.names import ColumnId

Effect = Literal["unharmed", "changed", "unknown", "starved", "breaks"]
_WORSE: Final[dict[Effect, int]] = {"unharmed": 0, "changed": 1, "unknown": 2, "starved": 3, "breaks": 4}

_INDIRECTLY: Final = {
    "FILTER": "keeps or drops rows by {}",
    "JOIN": "joins by {}",
    "GROUP_BY": "groups by {}",
    "SORT": "sorts by {}",
    "WINDOW": "orders or cuts windows by {}",
    "CONDITIONAL": "chooses values by {}",
}
"""How a column decides without giving its value, by the edge's subtype."""


class Verdict(NamedTuple):
    """What befalls a place, in one word and in a sentence, and the step that brings it."""

    effect: Effect
    words: str
    step: Step

    @property
    def is_breaking(self) -> bool | None:
        """None where the events do not tell."""
        return {"breaks": True, "starved": True, "unknown": None}.get(self.effect, False)


class Proposal(NamedTuple):
    """A change, of what, and the type it has now (None: nobody told)."""

    change: Change
    of: Place
    type_now: str | None


def ways(found: Reach) -> dict[Place, Step]:
    """For each place the last step of the shortest way to it, values before choices before guesses."""
    return {place: min(steps, key=lambda step: _order(found, step)) for place, steps in found.steps.items()}


def verdicts(found: Reach, proposal: Proposal) -> dict[Place, Verdict]:
    """What befalls each place that was reached."""
    onward: dict[Place, list[Step]] = {}
    for place in found.nearest_first():
        for step in sorted(found.steps[place], key=lambda step: _order(found, step)):
            onward.setdefault(step.origin, []).append(step)
    judged: dict[Place, Verdict] = {}
    queue = deque(sorted(found.start))
    while queue:
        origin = queue.popleft()
        for step in onward.get(origin, ()):
            verdict = _judged(proposal, step) if origin in found.start else _carried(judged[origin], step)
            known = judged.get(step.destination)
            if known is None or _WORSE[verdict.effect] > _WORSE[known.effect]:
                judged[step.destination] = verdict
                queue.append(step.destination)
    return judged


def _order(found: Reach, step: Step) -> tuple[object, ...]:
    edge = step.edge
    return (
        found.distance.get(step.origin, 0),
        USES.index(step.use),
        step.origin,
        () if edge is None else _edge_order(edge),
        step.jobs,
    )


def _edge_order(edge: ColumnEdge) -> tuple[object, ...]:
    columns = (edge.source_column or "", edge.target_column or "")
    return (edge.kind, edge.subtype, edge.masking, edge.description, *columns)


def _judged(proposal: Proposal, step: Step) -> Verdict:
    change, what = proposal.change, _called(proposal.of)
    if proposal.of.kind == "dataset":
        return _judged_whole(change, step, what)
    if step.edge is None:
        return Verdict("unknown", f"reads the dataset of {what}, and no event tells which columns it uses", step)
    use = _use(step, what)
    match change.kind:
        case "drop":
            return Verdict("breaks", f"{use}: it fails once the column is gone", step)
        case "rename":
            return _judged_rename(change, step, what, use)
        case "retype":
            return _judged_retype(proposal, step, use)


def _judged_whole(change: Change, step: Step, what: str) -> Verdict:
    if change.kind == "drop":
        return Verdict("breaks", f"reads {what}: it fails once the dataset is gone", step)
    return Verdict("breaks", f"reads {what} by its name: it fails unless it is told the name {change.to}", step)


def _judged_rename(change: Change, step: Step, what: str, use: str) -> Verdict:
    old = what.rpartition(":")[2]
    if change.to == old:
        return Verdict("unharmed", f"{use}, and the name stays as it is", step)
    if step.edge is not None and step.edge.source_column is None:
        return Verdict("changed", f"reads all columns and names none: {what} comes as {change.to}", step)
    if change.to.lower() == old.lower():
        return Verdict("unknown", f"{use}: only the case changes, which engines that ignore case do not mind", step)
    return Verdict("breaks", f"{use} by its name: it fails unless it is told the name {change.to}", step)


def _judged_retype(proposal: Proposal, step: Step, use: str) -> Verdict:
    old, new = proposal.type_now, proposal.change.to
    if old is None:
        return Verdict("unknown", f"{use}, and no event tells which type the column has now", step)
    match fit(old, new):
        case "same":
            return Verdict("unharmed", f"{use}: {old} and {new} are one type", step)
        case "promoted":
            effect: Effect = "changed" if step.use == "direct" else "unharmed"
            return Verdict(effect, f"{use}: {old} is promoted to {new} without loss", step)
        case "other bounds":
            return Verdict("unknown", f"{use}: {old} and {new} have other bounds, and engines differ on these", step)
        case "unreadable":
            return Verdict("breaks", f"{use}: who expects {old} cannot read {new}", step)


def _carried(before: Verdict, step: Step) -> Verdict:
    origin = _called(step.origin)
    match before.effect:
        case "breaks" | "starved" if step.edge is not None:
            return Verdict("starved", f"{_use(step, origin)}, which is no longer made", step)
        case "changed" if step.use == "direct":
            return Verdict("changed", f"{_use(step, origin)}, which changes and can still be read", step)
        case "changed" | "unharmed" if step.edge is not None:
            return Verdict("unharmed", f"{_use(step, origin)}, which can still be read", step)
        case "unharmed":
            return Verdict("unharmed", f"reads {origin}, which stays as it is", step)
        case "unknown" if step.edge is not None:
            return Verdict("unknown", f"{_use(step, origin)}, which may or may not be made", step)
    return Verdict("unknown", f"reads {origin}, and no event tells which columns it uses", step)


def _use(step: Step, what: str) -> str:
    """How the step uses what it comes from, as the beginning of a sentence without a subject."""
    edge = step.edge
    if edge is None:
        return f"reads {what}"
    if edge.kind == "INDIRECT":
        return _INDIRECTLY.get(edge.subtype, "is influenced by {}").format(what)
    how = edge.subtype.lower().replace("_", " ")
    named = f" ({how}{', masked' if edge.masking else ''})" if how or edge.masking else ""
    return f"takes its value from {what}{named}"


def _called(place: Place) -> str:
    name = place.name
    return f"{name.dataset.name}:{name.column}" if isinstance(name, ColumnId) else name.name
