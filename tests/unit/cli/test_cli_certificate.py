"""A certificate that is renewed while its server runs, as a client sees it, in memory."""

import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from headwater.cli.certificate import Certificate
from headwater.errors import SetupError
from tests.support.certificates import certificate


def shown_by(server: ssl.SSLContext) -> str:
    """The certificate that a client receives, in PEM."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client_side = client.wrap_bio(to_client, to_server)
    server_side = server.wrap_bio(to_server, to_client, server_side=True)
    for end in (client_side, server_side, client_side):
        with suppress(ssl.SSLWantReadError):
            end.do_handshake()
    received = client_side.getpeercert(binary_form=True)
    assert received is not None
    return ssl.DER_cert_to_PEM_cert(received)


def test_a_renewed_certificate_is_used_once_its_key_is_there_too(tmp_path: Path) -> None:
    path, key = certificate(tmp_path)
    (tmp_path / "new").mkdir()
    new, new_key = certificate(tmp_path / "new")
    old_text, new_text = path.read_text(), new.read_text()
    context, watched = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), Certificate(path, key)
    context.load_cert_chain(path, key)
    shown = []

    for change in (lambda: None, lambda: new.replace(path), key.unlink, lambda: new_key.replace(key)):
        change()
        watched.renew(context)
        shown.append(shown_by(context))

    assert shown == [old_text, old_text, old_text, new_text]


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    path, key = certificate(tmp_path)

    with pytest.raises(SetupError, match="expected a certificate and its private key in PEM"):
        Certificate(path, path)
    with pytest.raises(SetupError, match="expected a certificate and its private key in PEM"):
        Certificate(key.with_name("none.pem"), key)
