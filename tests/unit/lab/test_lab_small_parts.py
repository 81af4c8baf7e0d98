"""The lab's parts that need no server."""

import os
import socket
from pathlib import Path

import pytest

from headwater.errors import NotFoundError, SetupError
from headwater.lab import jars, processes
from headwater.lab.lab import LABS, Lab


def test_every_part_that_maven_fetches_has_a_pom() -> None:
    poms = [part.pom for parts in LABS.values() for part in parts if part.pom]

    assert all(jars.pom_of(pom).is_file() for pom in poms)


def test_without_the_projects_sources_the_missing_pom_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"needs Headwater's sources .*lab-broker/pom\.xml is missing"):
        jars.pom_of("lab-broker", tmp_path)


def test_without_maven_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SetupError, match=r"Maven \(mvn\) is missing"):
        jars.fetch("lab-broker")


def test_a_folder_of_jars_that_cannot_be_created_is_named_with_what_to_do(tmp_path: Path) -> None:
    pom = tmp_path / "jvm" / "part" / "pom.xml"
    pom.parent.mkdir(parents=True)
    pom.touch()
    (tmp_path / "build").touch()

    with pytest.raises(SetupError, match=f"cannot create {tmp_path}/build/lab/part: .*; let this user write there"):
        jars.fetch("part", tmp_path)


def test_a_changed_pom_is_fetched_again(tmp_path: Path) -> None:
    pom = tmp_path / "jvm" / "part" / "pom.xml"
    pom.parent.mkdir(parents=True)
    pom.write_text("<defaultGoal>first</defaultGoal>")
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\n")
    maven.chmod(0o755)
    before = jars.is_fetched("part", tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        jars.fetch("part", tmp_path)
    fetched = jars.is_fetched("part", tmp_path)

    pom.write_text("<defaultGoal>second</defaultGoal>")

    assert (before, fetched, jars.is_fetched("part", tmp_path)) == (False, True, False)


def test_the_owner_of_a_port_is_reported_by_process_and_command() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        free, owner = processes.is_free(port), processes.owner_of(port)

    assert not free
    assert owner.startswith(f"process {os.getpid()} (")


def test_an_unknown_lab_or_part_is_refused_with_the_existing_ones(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no lab 'kafak'; the labs are kafka, flink"):
        Lab("kafak", tmp_path)
    with pytest.raises(NotFoundError, match="no part 'brocker'; its parts are broker, registry, s3, connect"):
        Lab("kafka", tmp_path).up(["brocker"], lambda _: None)


def test_the_logs_of_a_part_that_never_started_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="broker has no log: it was not started in"):
        Lab("kafka", tmp_path).log("broker")
