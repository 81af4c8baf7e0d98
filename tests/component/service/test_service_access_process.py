"""`headwater serve --access` over TLS, in a process of its own, and the commands of `headwater access`."""

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import HeadwaterError, SetupError, UnauthenticatedError
from tests.support.certificates import certificate
from tests.support.service import eventually


@contextmanager
def serving_by_tls(home: Path, tls: tuple[Path, Path]) -> Iterator[str]:
    command = [sys.executable, "-m", "headwater.cli.main", "serve", "--host", "0.0.0.0", "--port", "0", "--access"]  # noqa: S104
    command += ["--tls-cert", str(tls[0]), "--tls-key", str(tls[1])]
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("listening on ").strip()
        yield url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    finally:
        process.terminate()
        process.communicate(timeout=120)


def test_a_key_is_created_used_listed_and_revoked_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tls = certificate(tmp_path)
    home = tmp_path / "home"
    monkeypatch.setenv("HEADWATER_HOME", str(home))
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[0]))

    def headwater(*arguments: str) -> str:
        return CliRunner().invoke(app, arguments, catch_exceptions=False).stdout

    with serving_by_tls(home, tls) as url:
        key = headwater("access", "key", "create", "ci", "--role", "read", "--scope", "sales*", "--url", url).strip()
        other = json.loads(
            headwater("access", "key", "create", "cd", "--role", "read", "--scope", "*", "--url", url, "--json")
        )
        revoked_by_id = json.loads(headwater("access", "key", "revoke", other["id"], "--url", url, "--json"))
        with httpx.Client(verify=True, headers={"authorization": f"Bearer {key}"}) as client:
            me = client.get(f"{url}/api/v1/access/me").json()
        with pytest.raises(UnauthenticatedError, match="set HEADWATER_TOKEN to an API key"):
            headwater("node", "list", "--url", url)
        monkeypatch.setenv("HEADWATER_TOKEN", key)
        with pytest.raises(HeadwaterError, match="this requires the role admin"):
            headwater("access", "key", "create", "mine", "--role", "admin", "--url", url)
        monkeypatch.delenv("HEADWATER_TOKEN")
        revoked = headwater("access", "key", "revoke", "ci", "--url", url)
        edge = ["edge-7", "--role", "ingest", "--scope", "edge-7", "--node", "0b1c"]
        headwater("access", "key", "create", *edge, "--url", url)
        listed = json.loads(headwater("access", "key", "list", "--json", "--url", url))
        output = headwater("access", "key", "list", "--url", url).splitlines()
        after = httpx.get(f"{url}/api/v1/jobs", headers={"authorization": f"Bearer {key}"}).status_code

    assert url.startswith("https://")
    assert (me["name"], me["roles"], me["scopes"]) == ("key:ci", ["read"], ["sales*"])
    assert revoked.startswith("revoked ci ")
    assert sorted((each["name"], each["isRevoked"]) for each in listed) == [
        ("cd", True),
        ("ci", True),
        ("edge-7", False),
    ]
    assert [line.split("  ")[1:] for line in sorted(output, key=lambda line: line.split("  ")[1])] == [
        ["cd", "read", "*", "revoked"],
        ["ci", "read", "sales*", "revoked"],
        ["edge-7", "ingest", "edge-7", "node 0b1c"],
    ]
    assert other["secret"].startswith("hw_")
    assert (revoked_by_id["name"], revoked_by_id["isRevoked"]) == ("cd", True)
    assert after == 401


def test_a_renewed_certificate_is_used_for_new_connections(tmp_path: Path) -> None:
    path, key = certificate(tmp_path)
    (tmp_path / "new").mkdir()
    new, new_key = certificate(tmp_path / "new")
    expected = new.read_text()

    with serving_by_tls(tmp_path / "home", (path, key)) as url:
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        before = ssl.get_server_certificate(address)
        new.replace(path)
        new_key.replace(key)

        is_shown = eventually(lambda: ssl.get_server_certificate(address) == expected)

    assert is_shown
    assert before != expected


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("oidc: {issuer: a, audience: b}", "oidc.jwks: Field required"),
        ("oidcs: {}", "oidcs: Extra inputs are not permitted"),
        ("policies: mine.cedar", "mine.cedar"),
        ("policies: old.cedar", "old.cedar"),
        ("policies: mine.cedar  # für alle", "access.yaml: cannot be read (UnicodeDecodeError)"),
    ],
)
def test_an_unreadable_access_file_prevents_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, yaml: str, message: str
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    (tmp_path / "access.yaml").write_bytes(yaml.encode("latin-1"))
    (tmp_path / "mine.cedar").write_text("permit (everybody);")
    (tmp_path / "old.cedar").write_bytes("// für alle".encode("latin-1"))

    result = CliRunner().invoke(app, ["serve", "--port", "0"])

    assert isinstance(result.exception, SetupError)
    assert message in str(result.exception)
