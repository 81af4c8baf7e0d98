"""The effect of a proposed change on each place that it reaches, and the step that causes it.

The change decides the effect of steps from the changed place; further steps propagate the effect on the place before.
Of several steps into one place, the worst effect counts: one broken input is enough.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.change import Change, fit
from headwater.graph.impact.places import Place, tell_apart
from headwater.graph.impact.reach import USES, Reach, Step, Use
from headwater.graph.impact.uses import Since
from headwater.model.names import DatasetId
from headwater.model.words import so_many

Effect = Literal["unharmed", "changed", "unknown", "starved", "breaks"]
_Finding = tuple[Effect, str]
"""The effect on a place, and its explanation."""
_WORSE: Final[dict[Effect, int]] = {"unharmed": 0, "changed": 1, "unknown": 2, "starved": 3, "breaks": 4}

_INDIRECTLY: Final = {
    "FILTER": "filters rows by {}",
    "JOIN": "joins by {}",
    "GROUP_BY": "groups by {}",
    "SORT": "sorts by {}",
    "WINDOW": "partitions or orders windows by {}",
    "CONDITIONAL": "chooses values by {}",
    "CHECK": "checks {}",
}
"""Verbs for uses of a column that do not take its value, by the edge's subtype."""

_OTHER_CASE: Final = "only the case {}, which case-insensitive engines ignore"
_UNREPORTED: Final = ", and no event reports which columns it uses"
_WITHOUT: Final = {True: ("do not use it", "does not use it"), False: ("do not say", "does not say")}
"""Plural and singular."""
_PROPAGATED: Final[Mapping[tuple[Effect, Use], _Finding]] = {
    ("breaks", "direct"): ("starved", ", which is no longer produced"),
    ("breaks", "indirect"): ("starved", ", which is no longer produced"),
    ("breaks", "unknown"): ("unknown", _UNREPORTED),
    ("starved", "direct"): ("starved", ", which is no longer produced"),
    ("starved", "indirect"): ("starved", ", which is no longer produced"),
    ("starved", "unknown"): ("unknown", _UNREPORTED),
    ("changed", "direct"): ("changed", ", which changes and can still be read"),
    ("changed", "indirect"): ("unharmed", ", which can still be read"),
    ("changed", "unknown"): ("unknown", _UNREPORTED),
    ("unharmed", "direct"): ("unharmed", ", which can still be read"),
    ("unharmed", "indirect"): ("unharmed", ", which can still be read"),
    ("unharmed", "unknown"): ("unharmed", ", which stays as it is"),
    ("unknown", "direct"): ("unknown", ", which may or may not be produced"),
    ("unknown", "indirect"): ("unknown", ", which may or may not be produced"),
    ("unknown", "unknown"): ("unknown", _UNREPORTED),
}
"""The effect on a place by the effect on the place before it and the kind of use, with the end of the sentence."""


class Verdict(NamedTuple):
    """The effect on a place, and the step that causes it."""

    effect: Effect
    explanation: str
    step: Step
    before: "Verdict | None" = None
    """The verdict on the place before; then `explanation` is only the end of the sentence, completed on demand."""
    since: Since | None = None
    """The evidence of later runs about the use, if that changes the effect."""

    @property
    def is_breaking(self) -> bool | None:
        """None if the events do not say."""
        return {"breaks": True, "starved": True, "unknown": None}.get(self.effect, False)

    @property
    def path(self) -> list[Step]:
        """The steps from the start that led to this verdict; a feedback loop may pass a place twice."""
        steps: list[Step] = []
        verdict: Verdict | None = self
        while verdict is not None:
            steps.append(verdict.step)
            verdict = verdict.before
        return steps[::-1]

    def words(self, written: Callable[[int], str]) -> str:
        """The effect in a sentence; `written` formats times, given in microseconds since 1970."""
        if self.since is not None:
            last_us, runs, is_superseded = self.since
            verb = _WITHOUT[is_superseded][runs == 1]
            return f"{_use(self.step)}, as reported until {written(last_us)}: {so_many(runs, 'run')} since {verb}"
        return self.explanation if self.before is None else f"{_use(self.step)}{self.explanation}"

    def adjusted_by_later_runs(self) -> Generator[None, None, "Verdict"]:
        """The verdict adjusted by later runs that do not use it, or do not say; yields between steps."""
        since = None if self.effect == "unharmed" else (yield from self.step.since())
        if since is None or not (since.is_superseded or self.is_breaking):
            return self
        return self._replace(effect="unharmed" if since.is_superseded else "unknown", since=since)


class Proposal(NamedTuple):
    """A change, its target, and the target's current type (None: not reported)."""

    change: Change
    of: Place
    type_now: str | None


def ways(found: Reach) -> dict[Place, Step]:
    """The last step of the shortest path to each place; direct uses come before indirect and unknown ones."""
    wide = {name: _in_order(steps)[0] for name, steps in found.wide.items()}
    return {place: _last_step(place, found, wide) for place in found.places}


def _last_step(place: Place, found: Reach, wide: Mapping[DatasetId, Step]) -> Step:
    own = _in_order(found.steps[place])[:1]
    if not found.wide_to(place):
        return own[0]
    return _in_order([*own, wide[DatasetId(*place.owner)]])[0]._replace(destination=place)


def verdicts(found: Reach, proposal: Proposal) -> Generator[None, None, dict[Place, Verdict]]:
    """The verdict for each place reached; yields between steps, so that other work can run."""
    tell_apart((proposal.of, *found.start, *found.places))
    onward = _StepsByOrigin(found)
    judged: dict[Place, Verdict] = {}
    queue = deque(found.start)

    def judge(origin: Place, step: Step) -> Verdict:
        before = judged.get(origin)
        effect, explanation = _judged(proposal, step) if before is None else _propagated(before.effect, step)
        return Verdict(effect, explanation, step, before)

    while queue:
        origin = queue.popleft()
        for step in (yield from onward.steps_from(origin, partial(judge, origin))):
            known = judged.get(step.destination)
            verdict = yield from _worse(judge(origin, step), -1 if known is None else _WORSE[known.effect])
            if verdict is not None:
                judged[step.destination] = verdict
                queue.append(step.destination)
        yield
    return judged


def _worse(verdict: Verdict, than: int) -> Generator[None, None, Verdict | None]:
    """The verdict adjusted by later runs, if still worse than `than`; looks at runs only where that is possible."""
    if _WORSE[verdict.effect] <= than:
        return None
    adjusted = yield from verdict.adjusted_by_later_runs()
    return adjusted if _WORSE[adjusted.effect] > than else None


class _StepsByOrigin:
    """The steps from each place that was reached.

    A wide step has the same effect on each column of its dataset. It is followed only if it is worse than any before,
    which happens at most once per kind of effect, not once per pair of columns.
    """

    def __init__(self, found: Reach) -> None:
        self._own: dict[Place, list[Step]] = {}
        self._wide: dict[Place, list[Step]] = {}
        self._columns: dict[DatasetId, list[Place]] = {name: [] for name in found.wide}
        self._worst: dict[DatasetId, int] = {}
        """The least severe effect that all columns of a dataset already have."""
        self._number = {place: number for number, place in enumerate(found.places)}
        for place in found.places:
            for step in _in_order(found.steps[place]):
                self._own.setdefault(step.origin, []).append(step)
            if found.wide_to(place):
                self._columns[DatasetId(*place.owner)].append(place)
        for steps in found.wide.values():
            for step in _in_order(steps):
                self._wide.setdefault(step.origin, []).append(step)

    def steps_from(self, origin: Place, judge: Callable[[Step], Verdict]) -> Generator[None, None, Sequence[Step]]:
        """The steps from a place that may be worse than earlier ones, ordered by destination."""
        wide: list[Step] = []
        for each in self._wide.get(origin, ()):
            wide += yield from self._spread(each, judge)
        own = self._own.get(origin, [])
        return sorted([*own, *wide], key=self._order) if wide else own

    def _spread(self, step: Step, judge: Callable[[Step], Verdict]) -> Generator[None, None, Iterable[Step]]:
        """A wide step, once per column of its dataset; none if it is no worse than before."""
        name = DatasetId(*step.destination.owner)
        verdict = yield from _worse(judge(step), self._worst.get(name, -1))
        if verdict is None:
            return ()
        self._worst[name] = _WORSE[verdict.effect]
        return (step._replace(destination=place) for place in self._columns[name])

    def _order(self, step: Step) -> tuple[object, ...]:
        return self._number[step.destination], _order(step)


def _in_order(steps: Sequence[Step]) -> Sequence[Step]:
    return steps if len(steps) == 1 else sorted(steps, key=_order)


def _order(step: Step) -> tuple[object, ...]:
    edge, origin = step.edge, step.origin
    return (origin.distance, USES.index(step.use), origin.order, () if edge is None else _edge_order(edge), step.jobs)


def _edge_order(edge: ColumnEdge) -> tuple[object, ...]:
    columns = (edge.source_column or "", edge.target_column or "")
    return (edge.kind, edge.subtype, edge.masking, edge.description, *columns)


def _propagated(before: Effect, step: Step) -> _Finding:
    if before in ("breaks", "starved") and (uncertainty := _uncertainty(step)):
        return "unknown", uncertainty
    if before == "changed" and step.is_check:
        return "unknown", ", which changes, and no event reports whether the check accepts it"
    return _PROPAGATED[before, step.use]


def _uncertainty(step: Step) -> str:
    """Why it is uncertain that the column read is the origin; empty if it is the origin or nested in it."""
    if step.read == step.origin.column:  # the common case
        return ""
    if step.is_enclosing:
        return f", and no event reports whether it uses {step.origin.column}"
    return f": {_OTHER_CASE.format(f'differs from {step.origin.column}')}" if step.is_in_other_case else ""


def _judged(proposal: Proposal, step: Step) -> _Finding:
    change, what = proposal.change, _display_name(proposal.of)
    if proposal.of.kind == "dataset":
        return _judged_dataset(change, step, what)
    if step.use == "unknown":
        return "unknown", f"reads the dataset of {what}, and no event reports which columns it uses"
    effect, explanation = _judged_column(proposal, step)
    if effect == "breaks" and (uncertainty := _uncertainty(step)):
        return "unknown", _use(step) + uncertainty
    return effect, explanation


def _judged_column(proposal: Proposal, step: Step) -> _Finding:
    use = _use(step)
    match proposal.change.kind:
        case "drop":
            return "breaks", f"{use}: it fails once the column is gone"
        case "rename":
            return _judged_rename(proposal, step, use)
        case "retype":
            return _judged_retype(proposal, step, use)


def _judged_dataset(change: Change, step: Step, what: str) -> _Finding:
    if change.kind == "drop":
        return "breaks", f"reads {what}: it fails once the dataset is gone"
    return "breaks", f"reads {what} by its name: it fails until it uses the name {change.to}"


def _judged_rename(proposal: Proposal, step: Step, use: str) -> _Finding:
    old, new = proposal.of.column, proposal.change.to
    if new == old:
        return "unharmed", f"{use}, and the name stays as it is"
    if new.lower() == old.lower():
        return "unknown", f"{use}: {_OTHER_CASE.format('changes')}"
    new_name = new + step.read.removeprefix(old) if step.is_nested else new
    return "breaks", f"{use} by its name: it fails until it uses the name {new_name}"


def _judged_retype(proposal: Proposal, step: Step, use: str) -> _Finding:
    old, new = proposal.type_now, proposal.change.to
    if old is None:
        return "unknown", f"{use}, and no event reports the column's current type"
    match fit(old, new):
        case "same":
            return "unharmed", f"{use}: {old} and {new} are the same type"
        case _ if step.is_check:
            return "unknown", f"{use}, and no event reports whether the check accepts {new}"
        case "promoted":
            effect: Effect = "changed" if step.use == "direct" else "unharmed"
            return effect, f"{use}: {old} is promoted to {new} without loss"
        case "other bounds":
            return "unknown", f"{use}: {old} and {new} have different bounds, which engines treat differently"
        case "may be null" if step.is_nested:
            return "unknown", f"{use}, and no event reports whether it may be null in {new}"
        case "may be null":
            return "breaks", f"{use}: a reader of {old} fails on null, which {new} allows"
        case "unreadable" if step.is_nested:
            return "unknown", f"{use}, and no event reports whether {new} still has it"
        case "unreadable":
            return "breaks", f"{use}: a reader of {old} cannot read {new}"


def _use(step: Step) -> str:
    """The step's use of its origin, as the beginning of a sentence without a subject."""
    edge, what = step.edge, _display_name(step.origin, step.read)
    if step.origin.kind == "job":
        return f"takes data from {what}"
    if edge is None or step.use == "unknown":
        return f"reads the dataset of {what}" if step.origin.kind == "column" else f"reads {what}"
    if edge.kind == "INDIRECT":
        return _INDIRECTLY.get(edge.subtype, "is influenced by {}").format(what)
    how = edge.subtype.lower().replace("_", " ")
    named = f" ({how}{', masked' if edge.masking else ''})" if how or edge.masking else ""
    return f"takes its value from {what}{named}"


def _display_name(place: Place, column: str | None = None) -> str:
    """The place's name, with another column of the same dataset if given."""
    if place.kind == "job":
        return f"job {place.called}"
    return f"{place.called}:{column or place.column}" if place.kind == "column" else place.called
