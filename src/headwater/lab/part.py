"""What a part of a lab is, said once and in one place for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

HOST: Final = "127.0.0.1"
SMALL_JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
"""Serial collection and only the first compiler: half the start's CPU time, and memory that a laptop has to spare."""

_PATIENCE_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Site:
    """Where a part is to run.

    Attributes:
        folder: of the part, for its data and configuration.
        jars: what Maven fetched for it; an empty folder for a part without.
        ports: of every part of the lab, by name, so that one finds another.
    """

    folder: Path
    jars: Path
    ports: Mapping[str, int]

    @property
    def log(self) -> Path:
        """What the part prints."""
        return self.folder / "log"

    def file(self, name: str, lines: Sequence[str]) -> Path:
        """Write a file of the part's own, such as its configuration."""
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path


Ready = Callable[["Part", Site], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One server.

    Attributes:
        name: what it is called on the command line; the name of its folder, too.
        title: what it is, for people.
        port: where it listens unless the user says otherwise.
        further_ports: how many ports behind that one it listens on, too, for parts of its own kind.
        address: how clients name it, with `{port}`.
        needs: parts that must be ready before this one is started.
        pom: the folder under `jvm/` with what Maven fetches for it.
        plugins: further such folders, whose jars are kept apart from its own.
        python: the folder under `jvm/` with what its own Python environment has.
        command: what is run, in the part's folder.
        environment: variables beside those of the caller.
        prepare: called before each start; writes configuration, makes what must be there first.
        ready: whether it does its work now.
        settle: called once it is ready, before others are told so.
    """

    name: str
    title: str
    port: int
    further_ports: int = 0
    address: str
    needs: tuple[str, ...] = ()
    pom: str | None = None
    plugins: tuple[str, ...] = ()
    python: str | None = None
    command: Callable[[Site], list[str]]
    environment: Callable[[Site], Mapping[str, str]] = lambda _: {}
    prepare: Callable[[Site], None] = lambda _: None
    ready: Ready
    settle: Callable[[Site], None] = lambda _: None

    def address_at(self, ports: Mapping[str, int]) -> str:
        """How clients name it, given its port."""
        return self.address.format(port=ports[self.name])


def log_says(words: str) -> Ready:
    """Ready once these words stand in what the part printed since it was started."""

    def ready(_: Part, site: Site) -> bool:
        return words in site.log.read_text(errors="replace")

    return ready


def answers(path: str) -> Ready:
    """Ready once a GET of this path is answered with 200."""

    def ready(part: Part, site: Site) -> bool:
        try:
            answer = httpx.get(f"http://{HOST}:{site.ports[part.name]}{path}", timeout=_PATIENCE_S)
        except httpx.HTTPError:
            return False
        return answer.status_code == httpx.codes.OK

    return ready
