"""The definition of a part of a lab."""

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
    """The folders and ports of a part.

    Attributes:
        folder: the part's folder, for its data and configuration.
        jars: the folder of its jars; empty for a part without.
        ports: the ports of all parts of the lab, by name.
    """

    folder: Path
    jars: Path
    ports: Mapping[str, int]

    @property
    def log(self) -> Path:
        """The file with the part's output."""
        return self.folder / "log"

    def file(self, name: str, lines: Sequence[str]) -> Path:
        """Write a file in the part's folder, such as its configuration."""
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path


Ready = Callable[["Part", Site], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One server.

    Attributes:
        name: its name on the command line, and of its folder.
        title: its name for people.
        port: its default port.
        further_ports: how many ports after that one it also listens on, for its internal connections.
        address: its address for clients, with `{port}`.
        needs: parts that must be ready before this one is started.
        pom: the folder under `jvm/` that defines its jars.
        plugins: further such folders, whose jars are kept apart from its own.
        python: the folder under `jvm/` that defines its Python environment.
        newest_minor: the newest Python 3 that the environment's packages support, such as 12; None: any.
        command: the command to run in the part's folder.
        environment: environment variables added to those of the caller.
        prepare: called before each start; writes configuration, and creates what the part needs.
        ready: whether it is ready to serve.
        settle: called once it is ready, before it is reported as ready.
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
    newest_minor: int | None = None
    command: Callable[[Site], list[str]]
    environment: Callable[[Site], Mapping[str, str]] = lambda _: {}
    prepare: Callable[[Site], None] = lambda _: None
    ready: Ready
    settle: Callable[[Site], None] = lambda _: None

    def address_at(self, ports: Mapping[str, int]) -> str:
        """Its address for clients, given the ports."""
        return self.address.format(port=ports[self.name])


def log_says(words: str) -> Ready:
    """Ready once the part's output since its start contains these words."""

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
