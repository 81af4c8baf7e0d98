"""Past jobs of which some parts are computed on demand."""

from collections.abc import Callable

from headwater.graph.records import Job


class CutJob(Job):
    """A past job whose unchanged runs and children are found on demand.

    There may be thousands, and most answers need none of them.
    """

    __slots__ = ("_children", "_more_children", "_more_runs", "_runs")

    def __init__(self, more_runs: Callable[[], set[str]], more_children: Callable[[], set[str]]) -> None:
        """A job without data but its runs and their children."""
        self._more_runs: Callable[[], set[str]] | None = more_runs
        self._more_children: Callable[[], set[str]] | None = more_children
        super().__init__()

    @property
    def runs(self) -> set[str]:
        """As in `Job`."""
        if (more := self._more_runs) is not None:
            self._more_runs = None
            self._runs |= more()
        return self._runs

    @runs.setter
    def runs(self, runs: set[str]) -> None:
        self._runs = runs

    @property
    def children(self) -> set[str]:
        """As in `Job`."""
        if (more := self._more_children) is not None:
            self._more_children = None
            self._children |= more()
        return self._children

    @children.setter
    def children(self, children: set[str]) -> None:
        self._children = children
