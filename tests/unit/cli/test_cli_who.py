"""The name of the user of a command, if the system has none."""

import os
import pwd

import pytest

from headwater.cli.who import who

_NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")


def test_a_user_without_a_name_is_named_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_entry(_: int) -> pwd.struct_passwd:
        raise KeyError

    for variable in _NAMES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", no_entry)

    assert who() == f"uid {os.getuid()}"
