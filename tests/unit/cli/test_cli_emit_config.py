"""The emitter's configuration from a pipeline file's `lineage:` section."""

from pathlib import Path

import pytest

from headwater.emission import emit_config
from headwater.pipeline.spec import LineageAuth, LineageFile, LineageHttp, LineageSpec

HOME = Path("/home/somebody/.headwater")


def test_every_setting_reaches_the_emitter() -> None:
    lineage = LineageSpec(
        transport="both",
        queue_size=7,
        drain_timeout=0.5,
        http=LineageHttp(
            endpoint="https://lineage.test/api/v1/lineage",
            timeout=1.5,
            auth=LineageAuth(type="bearer", token_env="LINEAGE_TOKEN"),  # noqa: S106  a variable's name
        ),
        file=LineageFile(path="file:/var/log/my%20events.jsonl", rotation_size_mb=8),
    )

    config = emit_config(lineage, HOME)

    assert (config.queue_size, config.drain_timeout_s, config.spool) == (7, 0.5, HOME / "spool")
    assert config.http is not None
    assert (config.http.endpoint, config.http.timeout_s, config.http.token_env) == (
        "https://lineage.test/api/v1/lineage",
        1.5,
        "LINEAGE_TOKEN",
    )
    assert config.file is not None
    assert (config.file.path, config.file.rotation_size_mb) == (Path("/var/log/my events.jsonl"), 8)


@pytest.mark.parametrize(
    ("transport", "http", "file"), [("http", True, False), ("file", False, True), ("both", True, True)]
)
def test_the_transport_decides_which_configurations_are_used(transport: str, http: bool, file: bool) -> None:
    config = emit_config(LineageSpec(transport=transport), HOME)  # type: ignore[arg-type]  # one of the three

    assert (config.http is not None, config.file is not None) == (http, file)
