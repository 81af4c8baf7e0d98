"""What our programs write to standard error."""

import logging

import pytest

from headwater.service.logs import log_to_stderr


def test_fields_that_are_not_in_the_message_follow_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log_to_stderr()
    fields = {"why": "503"}

    logging.getLogger("headwater.test").warning("no answer: %(why)s", fields, extra={**fields, "target": "http://a"})
    logging.getLogger("headwater.test").warning("no answer", extra={"why": "503"})

    assert capsys.readouterr().err.splitlines() == [
        "WARNING headwater.test: no answer: 503 target='http://a'",
        "WARNING headwater.test: no answer why='503'",
    ]
