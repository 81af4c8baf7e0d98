"""The wheel in an empty environment of each supported Python, as on a server: without this checkout, without extras."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from headwater.model.producer import VERSION
from tests.support.app import event
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
VERSIONS = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
"""The supported versions of Python."""


class Installed:
    """A new environment with the wheel in it."""

    def __init__(self, python: str, dist: Path, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", "--without-pip", folder / "env"], check=True)
        [wheel] = dist.glob("*.whl")
        uv: list[str | Path] = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet"]
        constraints = dist / "constraints.txt"
        subprocess.run(
            [*uv, "--python", folder / "env" / "bin" / "python", "--constraint", constraints, wheel], check=True
        )
        self.command = folder / "env" / "bin" / "headwater"
        variables = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "HEADWATER"))}
        self.environment = variables | {"HEADWATER_HOME": str(folder / "home")}
        self.folder = folder

    def output(self, *arguments: str, status: int = 0) -> str:
        """What `headwater` prints with these arguments."""
        result = subprocess.run(
            [self.command, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True
        )
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout + result.stderr


def interpreter(version: str) -> str | None:
    """The path of this version of Python, if this machine has it."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    # pyenv's commands run only the selected version.
    command = [f"python{version}", "-c", "import sys; print(sys.executable)"]
    try:
        result = subprocess.run(command, env=os.environ | {"PYENV_VERSION": version}, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([ROOT / "scripts" / "build-wheel", folder], check=True)
    return folder


@pytest.fixture(scope="module", params=VERSIONS)
def installed(request: pytest.FixtureRequest, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    python = interpreter(request.param)
    if python is None:
        pytest.skip(f"this machine has no Python {request.param}")
    return Installed(python, dist, tmp_path_factory.mktemp(f"python{request.param}"))


def test_the_installed_service_accepts_events_and_serves_the_page(installed: Installed) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    command: list[str | Path] = [installed.command, "serve", "--port", url.rpartition(":")[2]]
    service = subprocess.Popen(command, env=installed.environment, stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout is not None
        assert service.stdout.readline() == f"listening on {url}\n"
        posted = httpx.post(f"{url}/api/v1/lineage", json=event(), params={"receipt": "true"})
        page = httpx.get(url)
        [script_path] = re.findall(r'src="\.?/?([^"]+\.js)"', page.text)
        script = httpx.get(f"{url}/{script_path}")
        coverage = json.loads(installed.output("coverage", "--url", url, "--json"))
    finally:
        service.terminate()
        status = service.wait(60)
        if service.stdout is not None:
            service.stdout.close()

    assert (posted.status_code, posted.json()["receipt"]["index"]) == (201, 0)
    assert page.headers["content-type"].startswith("text/html")
    assert script.headers["content-type"].startswith("text/javascript")
    assert coverage["total"]["jobs"] == 1
    assert status == 0
    assert "1 entry tree:" in installed.output("store", "backup", "copy.db")


def test_a_missing_extra_is_named(installed: Installed) -> None:
    pipeline = installed.folder / "rows.yaml"
    pipeline.write_text(
        "name: rows\nnamespace: etl\nschema_version: 1\n"
        "input: {generate: {rows: 1, columns: {n: id}}}\noutput: {stdout: {}}\n"
    )

    assert installed.output("--version").strip().endswith(VERSION)
    assert "headwater[spark]" in installed.output("run", str(pipeline), status=2)
    assert "headwater[demo]" in installed.output("demo", status=2)
    assert "headwater[lab]" in installed.output("lab", "up", "kafka", status=2)
    assert "headwater[duckdb]" in installed.output("sql", "run", "-e", "SELECT 1", status=2)
    assert "headwater[connect]" in installed.output("watch", "connect", "--bootstrap", "localhost:1", status=2)
