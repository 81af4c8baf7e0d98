"""Resolves names and `from` to ids of frames.

A processor works on the frame that its `from` names, else on the previous processor's result, or for the first one, on
the only input. An output writes the frame that its `from` names, else the last result. All names share one
case-insensitive namespace, as in Spark.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headwater.pipeline.checking.grammar import SINGLE_INPUT, Draft, Piece
from headwater.pipeline.checking.problems import Path, dotted, nearest
from headwater.pipeline.spec import Input, Output, Processor, SourceLocation

ReportProblem = Callable[[Path, str], None]
"""Reports a problem: the path, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Inputs, processors and outputs with every `from` resolved."""

    inputs: Mapping[str, Input]
    processors: tuple[Processor, ...]
    outputs: tuple[Output, ...]


def resolve(draft: Draft, report: ReportProblem) -> Frames:
    """Resolve every name; unknown and duplicate names are reported."""
    scope = _Scope(report)
    inputs = {str(piece.name): _input(piece, scope, alone=len(draft.inputs) == 1) for piece in draft.inputs}
    scope.current = next(iter(inputs)) if len(inputs) == 1 else None
    processors = tuple(_processor(piece, index, scope) for index, piece in enumerate(draft.processors))
    return Frames(inputs, processors, tuple(_output(piece, scope) for piece in draft.outputs))


class _Scope:
    """The frames that can be referred to so far; `current` is the id of the default one."""

    def __init__(self, report: ReportProblem) -> None:
        self.report = report
        self.names: list[str] = []
        self.current: str | None = None

    def claim(self, name: str, path: Path) -> None:
        taken = next((other for other in self.names if other.lower() == name.lower()), None)
        if taken is not None:
            self.report(path, f"the name {name!r} is taken by {'an earlier piece' if taken == name else repr(taken)}")
        self.names.append(name)

    def source(self, piece: Piece) -> str | None:
        if piece.source is None or piece.source in self.names:
            return piece.source or self.current
        known = f"expected one of {', '.join(self.names)}, found {piece.source!r}"
        self.report((*piece.path, "from"), known + nearest(piece.source, self.names))
        return None

    def missing_from(self, piece: Piece) -> None:
        self.report(piece.path, f"missing key 'from': there are several inputs, {', '.join(self.names)}")


def _input(piece: Piece, scope: _Scope, *, alone: bool) -> Input:
    name = str(piece.name)
    if name.lower() == SINGLE_INPUT and not (alone and name == SINGLE_INPUT):
        scope.report(piece.path, _RESERVED)
    scope.claim(name, piece.path)
    return Input(name=name, reads=piece.does, location=_location(piece))


def _processor(piece: Piece, index: int, scope: _Scope) -> Processor:
    source = scope.source(piece)
    if source is None and piece.source is None and scope.names and piece.kind not in (None, "sql"):
        scope.missing_from(piece)
    views = {name: name for name in scope.names} | ({SINGLE_INPUT: source} if source else {})
    frame = piece.name or f"processors.{index}"
    if piece.name:
        if piece.name.lower() == SINGLE_INPUT:
            scope.report((*piece.path, "name"), _RESERVED)
        scope.claim(piece.name, (*piece.path, "name"))
    scope.current = frame
    return Processor(
        does=piece.does, frame=frame, source=source, views=views, location=_location(piece), name=piece.name
    )


def _output(piece: Piece, scope: _Scope) -> Output:
    source = scope.source(piece)
    if source is None and piece.source is None and scope.names:
        scope.missing_from(piece)
    return Output(writes=piece.does, source=source or "", location=_location(piece), name=piece.name)


def _location(piece: Piece) -> SourceLocation:
    return SourceLocation(dotted(piece.path), piece.mark.line)


_RESERVED = f"the name {SINGLE_INPUT!r} is reserved for the rows that a processor reads"
