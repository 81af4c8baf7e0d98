"""Write our own signature vectors, in the format of the shared ones, without the package.

The canonical form comes from `slow_canonical`, keys and signatures from the `openssl` command:

    .venv/bin/python -m tests.support.write_signature_vectors > conformance/signature.json
"""

import base64
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.openssl_key import OpensslKey
from tests.support.signature_vectors import NODE_ID, SCHEMA, Negative, Vector, Vectors
from tests.support.slow_canonical import slow_canonical

DESCRIPTION = (
    "Vectors of our own, in addition to the shared ones, in the same form: canonical form and signatures of events."
    " Written by tests/support/write_signature_vectors.py. `expect` is the verdict. Test keys only."
)
_SEED = hashlib.sha256(b"a key for test vectors only").digest()
_OTHER_SEED = hashlib.sha256(b"another key for test vectors only").digest()
_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493  # RFC 8032, section 5.1

FACETS: Mapping[str, str] = {
    "keys-by-utf-8-bytes": r'{"x":{"😀":1,"\uffff":2,"\ue000":3,"名":4,"é":5,"z":6,"Z":7,"aa":8,"a":9}}',
    "odd-keys": r'{"x":{"":1," ":2,"a.b":3,"<b>":4,"\"":5,"\\":6,"\u0000":7,"\u2028":8,"/":9}}',
    "keys-in-escapes": r'{"\u0078":{"\u0062":1,"a":2,"\u003c":3}}',
    "numbers-of-400-digits": f'{{"x":{{"int":{"7" * 400},"fraction":0.{"3" * 400},"exponent":-1E+{"9" * 400}}}}}',
    "numbers-not-shortened": '{"x":[-0.0,0.10,1.0,1E5,1e+05,100000000000000000000,12345678901234567.890]}',
    "surrogates": r'{"x":["\ud800\ud83d\ude00","\ude00\ud83d","\ud83d\\ude00","\uD83D\uDE00","\ud83dx\ude00"]}',
    "upper-case-escapes": r'{"x":["\u003C\u003E\u0026","\u000B\u001F","\u00E9\u2028"]}',
    "every-control": '{"x":["' + "".join(f"\\u{code:04x}" for code in range(0x20)) + '\u007f\u0080"]}',
    "html": '{"x":{"sql":"SELECT a FROM t WHERE a < 1 AND b > 2 && c","u":"?a=1&b=2"}}',
    "white-space-inside-and-out": ' {\t"x" :\r\n[ { } , [ ] , "" , " " , null , true , false ] } ',
    "a-hundred-levels": '{"x":' + '{"y":[' * 45 + "]}" * 45 + "}",
    "signature-is-replaced": '{"a":{},"signature":{"algorithm":"none"},"z":{}}',
    "no-facets": "{}",
}


def own_vectors(folder: Path) -> Vectors:
    """Create the vectors; `folder` is for the files that `openssl` reads."""
    key = OpensslKey.from_seed(_SEED, folder)
    vectors = [_vector(name, _event(facets), key) for name, facets in FACETS.items()]
    vectors.append(_vector("signature-of-the-job-stays", _event("{}", job='{"signature":{"algorithm":"none"}}'), key))
    vectors.append(_vector("run-without-facets", _event("{}").replace(',"facets":{}', "", 1), key))
    return {"description": DESCRIPTION, "vectors": vectors, "negative": _negatives(key, folder)}


def _event(facets: str, job: str = "{}") -> str:
    return (
        '{"eventType":"COMPLETE","eventTime":"2026-05-22T14:23:11Z","producer":"https://example.org/producer?a=1&b=2",'
        '"schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",'
        f'"run":{{"runId":"0198f7d0-1111-7222-8333-444455556666","facets":{facets}}},'
        f'"job":{{"namespace":"production","name":"orders","facets":{job}}}}}'
    )


def _vector(name: str, event: str, key: OpensslKey) -> Vector:
    as_is = slow_canonical(event.replace('"signature":{"algorithm":"none"},"z"', '"z"').encode())
    payload = _with_facets(as_is)
    return {
        "id": name,
        "event": event,
        "canonicalHex": as_is.hex(),
        "canonicalUtf8": as_is.decode(),
        "sha256": hashlib.sha256(as_is).hexdigest(),
        "privateSeedHex": _SEED.hex(),
        "publicKeyHex": key.public.hex(),
        "signatureBase64": base64.b64encode(key.sign(as_is)).decode(),
        "signedEvent": _spliced(payload, _facet(payload, key)),
        "signedEventCanonicalHex": payload.hex(),
    }


def _with_facets(event: bytes) -> bytes:
    return event if b'"run":{"facets":{' in event else event.replace(b'"run":{', b'"run":{"facets":{},', 1)


def _facet(payload: bytes, key: OpensslKey) -> dict[str, str]:
    fingerprint = base64.urlsafe_b64encode(hashlib.sha256(key.public).digest()).decode().rstrip("=")
    return {
        "_producer": json.loads(payload)["producer"],
        "_schemaURL": SCHEMA,
        "algorithm": "Ed25519",
        "keyId": f"node:{NODE_ID}#sha256:{fingerprint}",
        "payloadHash": f"sha256:{hashlib.sha256(payload).hexdigest()}",
        "signature": base64.b64encode(key.sign(payload)).decode(),
    }


def _spliced(payload: bytes, facet: object) -> str:
    """Put a facet first among the run's, and from there into its sorted position."""
    opening = '"run":{"facets":{'
    before, found, after = payload.decode().partition(opening)
    comma = "" if after.startswith("}") else ","
    return slow_canonical(f'{before}{found}"signature":{json.dumps(facet)}{comma}{after}'.encode()).decode()


def _negatives(key: OpensslKey, folder: Path) -> list[Negative]:
    payload = slow_canonical(_event('{"x":{"v":"a<b","w":"\\u000b"}}').encode())
    facet = _facet(payload, key)
    facets = _changed_facets(facet, payload, key) | _foreign_signatures(facet, payload, folder)
    texts = _changed_texts(
        _spliced(payload, facet), payload.decode(), slow_canonical(json.dumps(facet).encode()).decode()
    )
    judged = {name: ("tampered", _spliced(payload, changed)) for name, changed in facets.items()} | texts
    judged |= _signed_as_they_stand(payload.decode(), key)
    judged["key-unknown"] = (
        "unknown-key",
        _spliced(payload, {**facet, "keyId": facet["keyId"].replace("7f", "00", 1)}),
    )
    negatives: list[Negative] = [
        {"id": name, "event": event, "publicKeyHex": key.public.hex(), "expect": verdict}
        for name, (verdict, event) in judged.items()
    ]
    negatives += [
        {"id": name, "eventHex": event.hex(), "publicKeyHex": key.public.hex(), "expect": "malformed"}
        for name, event in _no_texts(_spliced(payload, facet).encode()).items()
    ]
    return negatives


def _changed_facets(facet: dict[str, str], payload: bytes, key: OpensslKey) -> dict[str, object]:
    text = facet["signature"]
    as_sent = _event("{}").encode()
    return {
        "facet-is-a-string": text,
        "facet-is-null": None,
        "member-added": {**facet, "note": ""},
        "member-missing": {name: value for name, value in facet.items() if name != "payloadHash"},
        "member-is-a-number": {**facet, "payloadHash": 1},
        "producer-of-the-facet-changed": {**facet, "_producer": "https://example.org/producer?a=1&b=3"},
        "schema-of-the-facet-changed": {**facet, "_schemaURL": SCHEMA.replace("signature", "signatura")},
        "algorithm-in-lower-case": {**facet, "algorithm": "ed25519"},
        "algorithm-none": {**facet, "algorithm": "none"},
        "hash-in-upper-case": {**facet, "payloadHash": "sha256:" + facet["payloadHash"][7:].upper()},
        "hash-of-nothing": {**facet, "payloadHash": f"sha256:{hashlib.sha256().hexdigest()}"},
        "signature-with-stray-bits": {**facet, "signature": text[:-3] + chr(ord(text[-3]) + 1) + "=="},
        "signature-without-padding": {**facet, "signature": text.rstrip("=")},
        "signature-in-base64url": {**facet, "signature": text.replace("+", "-").replace("/", "_")},
        "signature-with-a-line-break": {**facet, "signature": f"{text[:40]}\n{text[40:]}"},
        "signature-of-zeros": {**facet, "signature": base64.b64encode(bytes(64)).decode()},
        "signature-plus-the-group-order": {**facet, "signature": _plus_group_order(text)},
        "signature-of-another-event": {**facet, "signature": base64.b64encode(key.sign(payload + b" ")).decode()},
        "signed-as-sent-not-canonical": _facet(as_sent, key),
    }


def _plus_group_order(text: str) -> str:
    """Another signature for the same bytes, if S is not checked to be below the order (RFC 8032, section 8.4)."""
    signature = base64.b64decode(text)
    scalar = int.from_bytes(signature[32:], "little") + _GROUP_ORDER
    return base64.b64encode(signature[:32] + scalar.to_bytes(32, "little")).decode()


def _foreign_signatures(facet: dict[str, str], payload: bytes, folder: Path) -> dict[str, object]:
    other = OpensslKey.from_seed(_OTHER_SEED, folder / "other")
    return {"signature-by-another-key": {**facet, "signature": base64.b64encode(other.sign(payload)).decode()}}


def _changed_texts(signed: str, payload: str, facet: str) -> dict[str, tuple[str, str]]:
    member = f'"signature":{facet}'
    deep = "[" * 1_000 + "]" * 1_000
    return {
        "facet-moved-to-the-job": ("unsigned", payload.replace('"job":{"facets":{', f'"job":{{"facets":{{{member}')),
        "facet-moved-into-the-run": ("unsigned", payload.replace('"runId"', f'{member},"runId"')),
        "facet-moved-to-the-top": ("unsigned", payload[:-1] + f",{member}}}"),
        "facet-twice": ("malformed", signed.replace(member, f"{member},{member}")),
        "value-changed": ("tampered", signed.replace("a\\u003cb", "a\\u003cc")),
        "case-of-an-escape-changed-in-place": ("tampered", signed.replace("\\u000b", "\\u000B")),
        "key-twice-once-surrogates-are-read": ("malformed", signed.replace('"x":{', '"x":{"\\ud800":1,"\\udfff":2,')),
        "not-a-number": ("malformed", signed.replace('"x":{', '"x":{"n":NaN,')),
        "thousand-levels": ("malformed", signed.replace('"x":{', f'"x":{{"d":{deep},')),
        "text-after-the-end": ("malformed", signed + " x"),
        "cut-off": ("malformed", signed[:-1]),
        "nothing": ("malformed", ""),
        "no-object": ("malformed", f"[{signed}]"),
        "run-is-a-string": ("malformed", '{"run":"0198f7d0-1111-7222-8333-444455556666"}'),
        "facets-are-a-string": ("malformed", '{"run":{"facets":"signature"}}'),
        "no-run": ("unsigned", '{"producer":"https://example.org/producer"}'),
    }


def _signed_as_they_stand(payload: str, key: OpensslKey) -> dict[str, tuple[str, str]]:
    """Texts without a canonical form, with a valid signature over the remaining bytes."""
    deep = "[" * 600 + "]" * 600
    facets = '"run":{"facets":{'
    payload = payload.replace("?a=1\\u0026b=2", "")  # with no escape in the facet, so that every verifier cuts it out
    texts = {
        "key-twice-and-signed-so": payload.replace('"eventType":', '"eventType":"FAIL","eventType":'),
        "key-twice-in-a-facet-and-signed-so": payload.replace('"v":', '"v":1,"v":'),
        "key-twice-in-surrogates-and-signed-so": payload.replace('"v":', '"\\ud800":1,"\\udfff":2,"v":'),
        "six-hundred-levels-and-signed-so": payload.replace('"v":', f'"d":{deep},"v":'),
        "not-a-number-and-signed-so": payload.replace('"v":', '"n":NaN,"v":'),
    }
    signatures = {name: json.dumps(_facet(text.encode(), key)) for name, text in texts.items()}
    return {
        name: ("malformed", text.replace(facets, f'{facets}"signature":{_canonical(signatures[name])},'))
        for name, text in texts.items()
    }


def _canonical(text: str) -> str:
    return slow_canonical(text.encode()).decode()


def _no_texts(signed: bytes) -> dict[str, bytes]:
    return {
        "not-utf-8": signed.replace(b"a\\u003cb", b"a\xffb"),
        "surrogate-in-utf-8": signed.replace(b"a\\u003cb", b"a\xed\xa0\x80b"),
        "nul": signed.replace(b"a\\u003cb", b"a\x00b"),
        "byte-order-mark": b"\xef\xbb\xbf" + signed,
        "utf-16": signed.decode().encode("utf-16"),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        json.dump(own_vectors(Path(folder)), sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
