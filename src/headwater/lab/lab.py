"""A lab as a whole: up, status, down."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from headwater.errors import NotFoundError, SetupError, UnavailableError
from headwater.lab import environments, flink, jars, kafka, processes, trino
from headwater.lab.part import Part, Site

LABS: Final[Mapping[str, tuple[Part, ...]]] = {
    "kafka": kafka.PARTS,
    "flink": flink.PARTS,
    "trino": trino.PARTS,
    "all": (*kafka.PARTS, *flink.PARTS, trino.PART),
}
"""The parts of each lab, in the order in which they are started."""

_FIGURES: Final = "started.json"
_READY_WITHIN_S: Final = 180.0
_LOOK_AGAIN_S: Final = 0.2
_LAST_LINES: Final = 15

State = Literal["up", "not ready", "down"]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStatus:
    """The status of a part.

    Attributes:
        ready_after_s: how long its last start took; None if it was never ready.
    """

    name: str
    title: str
    state: State
    address: str
    port: int
    pids: tuple[int, ...]
    rss_bytes: int
    ready_after_s: float | None


class Lab:
    """One lab of a HEADWATER_HOME.

    Args:
        name: a name in `LABS`.
        home: the HEADWATER_HOME.
        ports: the ports of parts by name; others listen where they did before, else on their default port.
    """

    def __init__(self, name: str, home: Path, ports: Mapping[str, int] | None = None) -> None:
        if name not in LABS:
            raise NotFoundError(f"no lab {name!r}; the labs are {', '.join(LABS)}")
        self._parts = {part.name: part for part in LABS[name]}
        self._folder = home.absolute() / "lab"
        for part in ports or {}:
            self.part(part)
        self.ports = {part.name: (ports or {}).get(part.name) or self._port_before(part) for part in LABS[name]}

    def part(self, name: str) -> Part:
        """The part of that name.

        Raises:
            NotFoundError: the lab has none.
        """
        if name not in self._parts:
            raise NotFoundError(f"the lab has no part {name!r}; its parts are {', '.join(self._parts)}")
        return self._parts[name]

    def has(self, name: str) -> bool:
        """Whether a part of that name is in this lab."""
        return name in self._parts

    def address(self, name: str) -> str:
        """A part's address for clients."""
        return self.part(name).address_at(self.ports)

    def fetch(self, progress: Progress) -> None:
        """Fetch the parts' missing jars and packages, and start nothing.

        Raises:
            SetupError: Maven or Java is missing, or a download failed.
        """
        self._fetch(list(self._parts.values()), progress)

    def up(self, names: Sequence[str], progress: Progress) -> None:
        """Start parts and their dependencies; running parts stay as they are, partly dead ones are restarted.

        Args:
            names: names of parts; none for all.
            progress: takes a line at every step.

        Raises:
            SetupError: a port is taken, Maven or Java is missing, or a part ended while it was starting.
            UnavailableError: a part was not ready in time.
        """
        wanted = self._with_needs(names)
        self._fetch(wanted, progress)
        begun: list[Part] = []
        try:
            for wave in _waves(wanted):
                for part, since in [(part, self._begin(part, begun, progress)) for part in wave]:
                    if since is not None:
                        self._await(part, since, progress)
        except BaseException:
            # Also on Ctrl-C: a failed start leaves nothing running.
            for part in reversed(begun):
                processes.stop(processes.running(self._site(part).folder))
            raise

    def status(self) -> list[PartStatus]:
        """The status of every part."""
        return [self._status(part) for part in self._parts.values()]

    def log(self, name: str) -> Path:
        """The file with a part's output since its last start.

        Raises:
            NotFoundError: there is no such part, or it was never started.
        """
        log = self._site(self.part(name)).log
        if not log.is_file():
            raise NotFoundError(f"{name} has no log: it was not started in this HEADWATER_HOME")
        return log

    def down(self, progress: Progress, *, keep: bool = False) -> None:
        """Stop every part, dependents before their dependencies; with `keep`, data and logs stay."""
        for wave in reversed(list(_waves(list(self._parts.values())))):
            found = {part.name: processes.running(self._site(part).folder) for part in wave}
            processes.stop([process for those in found.values() for process in those])
            for name in (name for name, those in found.items() if those):
                progress(f"{name}: stopped")
        if not keep:
            for part in self._parts.values():
                shutil.rmtree(self._site(part).folder, ignore_errors=True)
        if not keep and self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _with_needs(self, names: Sequence[str]) -> list[Part]:
        wanted = set(names) or set(self._parts)
        for name in tuple(wanted):
            wanted.update(self.part(name).needs)
        return [part for part in self._parts.values() if part.name in wanted]

    def _fetch(self, parts: Sequence[Part], progress: Progress) -> None:
        needed = [(part, pom) for part in parts for pom in (part.pom, *part.plugins) if pom is not None]
        if needed and shutil.which("java") is None:
            raise SetupError("Java is missing: install Java 17 or newer (Debian: apt install openjdk-17-jre-headless)")
        for part, pom in needed:
            if not jars.is_fetched(pom):
                progress(f"{part.name}: downloading {pom} with Maven (once)")
                jars.fetch(pom)
        for part in parts:
            if part.python is not None and not environments.is_created(part.python):
                progress(f"{part.name}: creating a Python environment for {part.python} (once)")
                environments.make(part.python, newest_minor=part.newest_minor)

    def _begin(self, part: Part, begun: list[Part], progress: Progress) -> float | None:
        """Start a part; returns when, on the monotonic clock, or None if it is running already."""
        site = self._site(part)
        found = processes.running(site.folder)
        if found and part.ready(part, site):
            progress(f"{part.name}: already running at {self.address(part.name)}")
            return None
        if found:
            progress(f"{part.name}: not responding; stopping its processes")
            processes.kill(found)
        first = self.ports[part.name]
        for port in range(first, first + 1 + part.further_ports):
            if not processes.is_free(port):
                raise SetupError(_taken(part, port))
        site.folder.mkdir(parents=True, exist_ok=True)
        progress(f"{part.name}: starting {part.title}")
        begun.append(part)
        since = time.monotonic()
        part.prepare(site)
        processes.start(part.command(site), site.folder, site.log, part.environment(site))
        self._note(part, None)
        return since

    def _await(self, part: Part, since: float, progress: Progress) -> None:
        site = self._site(part)
        while not part.ready(part, site):
            if not processes.running(site.folder):
                raise SetupError(f"{part.name} ended during its start; last output:\n{_tail(site.log)}")
            if time.monotonic() - since > _READY_WITHIN_S:
                raise UnavailableError(f"{part.name} is not ready after {_READY_WITHIN_S:.0f} s; its log: {site.log}")
            time.sleep(_LOOK_AGAIN_S)
        part.settle(site)
        seconds = round(time.monotonic() - since, 1)
        self._note(part, seconds)
        progress(f"{part.name}: ready after {seconds} s at {self.address(part.name)}")

    def _status(self, part: Part) -> PartStatus:
        site = self._site(part)
        found = processes.running(site.folder)
        state: State = "down" if not found else "up" if part.ready(part, site) else "not ready"
        figure = self._figures(part).get("ready_after_s")
        return PartStatus(
            name=part.name,
            title=part.title,
            state=state,
            address=self.address(part.name),
            port=self.ports[part.name],
            pids=tuple(process.pid for process in found),
            rss_bytes=processes.memory_bytes(found),
            ready_after_s=figure,
        )

    def _site(self, part: Part) -> Site:
        folder = self._folder / part.name
        return Site(folder, jars.folder_of(part.pom) if part.pom else folder, self.ports)

    def _port_before(self, part: Part) -> int:
        before = self._figures(part).get("port")
        return part.port if before is None else int(before)

    def _note(self, part: Part, ready_after_s: float | None) -> None:
        figures = {"port": self.ports[part.name], "ready_after_s": ready_after_s}
        (self._folder / part.name / _FIGURES).write_text(json.dumps(figures))

    def _figures(self, part: Part) -> dict[str, float | None]:
        """The figures of the last start; empty if there was none, or they were not written completely."""
        try:
            figures = json.loads((self._folder / part.name / _FIGURES).read_text())
        except (OSError, ValueError):
            return {}
        return figures if isinstance(figures, dict) else {}


def _waves(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Groups of parts to start together: first those without dependencies, then those that depend on them."""
    yield [part for part in parts if not part.needs]
    yield [part for part in parts if part.needs]


def _taken(part: Part, port: int) -> str:
    return (
        f"port {port} for {part.name} is in use by {processes.owner_of(port)}:"
        f" stop it, or choose another with --port {part.name}=PORT"
    )


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
