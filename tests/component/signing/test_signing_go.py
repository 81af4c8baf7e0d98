"""Go's code for transparent logs, which its module proxies rely on, agrees with ours: trees, proofs, notes."""

import json
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from headwater.signing.checkpoint import Checkpoint
from headwater.signing.merkle import EMPTY, Growth, consistency_proof, frontier_of, inclusion_proof, leaf_hash
from headwater.signing.note import COSIGNATURE, NoteSigner, signed_note, verified_text

PROGRAM = Path(__file__).parents[2] / "support" / "go_tlog"
SEED = bytes(range(32))
LOG = NoteSigner.from_seed("lineage.example.org", SEED)
WITNESS = NoteSigner.from_seed("witness.example.org", SEED, COSIGNATURE)
DATA = [b"leaf %d" % number for number in range(70)]
SIZES = (1, 2, 3, 7, 8, 33, 64, 70)


@pytest.fixture(scope="module")
def go_tlog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built program; without Go, the tests are skipped with the reason."""
    if shutil.which("go") is None:
        pytest.skip("no Go on this machine: the tree and the notes are not checked against golang.org/x/mod/sumdb")
    program = tmp_path_factory.mktemp("go") / "go_tlog"
    built = subprocess.run(
        ["go", "build", "-o", str(program), "."], cwd=PROGRAM, capture_output=True, text=True, timeout=300
    )
    if "dial tcp" in built.stderr or "proxy" in built.stderr:
        pytest.skip(f"golang.org/x/mod cannot be fetched, so nothing is checked against it: {built.stderr[-200:]}")
    assert built.returncode == 0, built.stderr
    return program


def answer_of(program: Path, request: dict[str, Any]) -> dict[str, Any]:
    result = subprocess.run([program], input=json.dumps(request), capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


def test_go_accepts_our_heads_proofs_and_checkpoints_and_signs_as_we_do(go_tlog: Path) -> None:
    growth = Growth(EMPTY, [leaf_hash(data) for data in DATA])
    inclusion = [
        {"From": index, "Size": size, "Hashes": list(map(encoded, inclusion_proof(index, size, growth.node)))}
        for size in SIZES
        for index in range(size)
    ]
    consistency = [
        {"From": old, "Size": new, "Hashes": list(map(encoded, consistency_proof(old, new, growth.node)))}
        for new in SIZES
        for old in range(1, new + 1)
    ]
    checkpoint = Checkpoint("lineage.example.org", 70, growth.frontier.root)
    name, key_hash, _ = str(LOG.verifier).split("+", 2)

    answer = answer_of(
        go_tlog,
        {
            "Leaves": list(map(encoded, DATA)),
            "VerifierKey": str(LOG.verifier),
            "Note": signed_note(
                checkpoint.text, [LOG.line(checkpoint.text), WITNESS.line(checkpoint.text, 1_779_451_200)]
            ),
            "Witnesses": [str(WITNESS.verifier)],
            "SignerKey": f"PRIVATE+KEY+{name}+{key_hash}+{encoded(bytes([1]) + SEED)}",
            "Text": checkpoint.text,
            "Inclusion": inclusion,
            "Consistency": consistency,
        },
    )

    assert answer["roots"] == [encoded(frontier_of(size, growth.node).root) for size in range(1, 71)]
    assert answer["text"] == checkpoint.text
    assert answer["signed"] == checkpoint.signed(LOG)
    assert verified_text(answer["signed"], [LOG.verifier]) == checkpoint.text


def test_go_refuses_altered_proofs_and_checkpoints(go_tlog: Path) -> None:
    growth = Growth(EMPTY, [leaf_hash(data) for data in DATA[:5]])
    checkpoint = Checkpoint("lineage.example.org", 5, growth.frontier.root)
    name, key_hash, _ = str(LOG.verifier).split("+", 2)
    proof = [*map(encoded, inclusion_proof(2, 5, growth.node))]
    request = {
        "Leaves": list(map(encoded, DATA[:5])),
        "VerifierKey": str(LOG.verifier),
        "Note": checkpoint.signed(LOG),
        "SignerKey": f"PRIVATE+KEY+{name}+{key_hash}+{encoded(bytes([1]) + SEED)}",
        "Text": checkpoint.text,
        "Inclusion": [{"From": 2, "Size": 5, "Hashes": proof}],
    }

    answer_of(go_tlog, request)
    for wrong in (
        {"Inclusion": [{"From": 3, "Size": 5, "Hashes": proof}]},
        {"Note": checkpoint.signed(LOG).replace("\n5\n", "\n6\n")},
        {"Witnesses": [str(WITNESS.verifier)]},  # it did not sign
    ):
        with pytest.raises(AssertionError, match=r"invalid|verif"):
            answer_of(go_tlog, {**request, **wrong})
