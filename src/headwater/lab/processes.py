"""Processes of a part, and the owners of ports."""

import os
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import psutil

from headwater.lab.part import HOST

_MARK: Final = "HEADWATER_LAB_PART"
"""A variable in the environment of every process of the lab: the folder of the part it belongs to."""

_GRACE_S: Final = 10.0
_LOOKS: Final = 10
_LOOK_AGAIN_S: Final = 0.2
_LONGEST_COMMAND: Final = 120

# The shell ends at once, so that the part has no parent: it outlives its starter, and leaves no zombie.
_DETACHED: Final = '"$@" </dev/null >"$HEADWATER_LAB_LOG" 2>&1 & echo $!'


def start(command: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> int:
    """Start a process of the part in `folder`, in a session of its own; returns its id."""
    marked = {**os.environ, **environment, _MARK: str(folder), "HEADWATER_LAB_LOG": str(log)}
    shell = ["/bin/sh", "-c", _DETACHED, "sh", *command]
    started = subprocess.run(  # noqa: S603
        shell, cwd=folder, env=marked, stdout=subprocess.PIPE, text=True, check=True, start_new_session=True
    )
    return int(started.stdout)


def running(folder: Path) -> list[psutil.Process]:
    """All running processes of the part, whoever started them."""
    return [process for process in psutil.process_iter() if _belongs_to(process, folder)]


def stop(processes: Iterable[psutil.Process]) -> None:
    """Ask the processes to end; those that do not within ten seconds are killed."""
    asked = list(processes)
    for process in asked:
        _signal(process, "terminate")
    _, stubborn = psutil.wait_procs(asked, timeout=_GRACE_S)
    kill(stubborn)


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill the processes, for those that do not respond."""
    killed = list(processes)
    for process in killed:
        _signal(process, "kill")
    psutil.wait_procs(killed, timeout=_GRACE_S)


def memory_bytes(processes: Iterable[psutil.Process]) -> int:
    """Resident memory of the processes together; 0 for those that have just ended."""
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def is_free(port: int) -> bool:
    """Whether a server could listen on the port; waits a moment for an owner that is just ending."""
    for _ in range(_LOOKS):
        if _can_listen(port):
            return True
        time.sleep(_LOOK_AGAIN_S)
    return False


def _can_listen(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def owner_of(port: int) -> str:
    """The owner of a port, for people: the process id and its command."""
    for process in psutil.process_iter():
        try:
            listens = any(
                found.status == psutil.CONN_LISTEN and found.laddr.port == port
                for found in process.net_connections("tcp")
            )
            if listens:
                return f"process {process.pid} ({' '.join(process.cmdline())[:_LONGEST_COMMAND]})"
        except psutil.Error:
            continue
    return "a process of another user"


def _belongs_to(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.environ().get(_MARK) == str(folder)
    except (psutil.Error, OSError):
        return False


def _signal(process: psutil.Process, how: str) -> None:
    try:
        getattr(process, how)()
    except psutil.NoSuchProcess:
        return
