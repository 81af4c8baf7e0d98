"""Checks across the entries of a bundle: late events, erasures and chains, and how long lists are shortened."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import pytest

from headwater.audit.chains import check_chains
from headwater.audit.core import Finding, Report
from headwater.audit.erasures import UNEXPLAINED, Erasures
from headwater.audit.late import LateEvents
from headwater.model.edits import EditEntry, EditItem, edit_entry, parse_edit
from headwater.model.facts import ChainLink, Edit
from headwater.model.times import microseconds
from headwater.signing.directory import revocation
from headwater.signing.keys import NodeKey
from headwater.signing.segments import facet_spans
from tests.support.chains import NODE, erased, link_of, record

NOON = datetime(2026, 5, 22, 12, tzinfo=UTC)
NOON_US = microseconds(NOON)
KEYS = [NodeKey.from_seed(NODE, bytes([number] * 32)) for number in range(5)]
EPOCH = "018f0000-0000-7000-8000-000000000001"


def revoked(key: NodeKey) -> EditEntry:
    """The entry of an operator's revocation of the key as of noon."""
    statement = revocation(key.key_id, NOON, "stolen", "1", NOON).text
    value = {"statement": statement, "signatures": {}, "token": "a hash"}
    return edit_entry("1", NOON_US, None, [EditItem(("key", key.key_id), "revoked", value)])


def late_by(
    keys: Sequence[NodeKey],
    received_us: int,
    verdict: str = "ok",
    known: Sequence[Finding] = (),
    entry_of_revocation: Callable[[NodeKey], EditEntry] = revoked,
) -> tuple[list[int | None], list[str]]:
    """The findings' entries and what is not known, where each key signs an event, is revoked, and signs another."""
    late, report, edits = LateEvents(), Report(), list[Edit]()
    report.findings.extend(known)

    def take_events(first: int) -> None:
        for index, key in enumerate(keys, first):
            members = {"kind": "event", "index": index, "verdict": verdict, "keyId": key.key_id}
            late.take(members | {"receivedUs": received_us}, b"{}")

    take_events(0)
    for index, key in enumerate(keys, len(keys)):
        entry = entry_of_revocation(key)
        edits += [fact for fact in entry.facts(index) if isinstance(fact, Edit)]
        late.take({"kind": "edit", "type": "EDIT", "index": index}, entry.raw)
    take_events(2 * len(keys))
    late.report_late(edits, report)
    return [each.entry for each in report.findings[len(known) :]], report.not_known


def test_an_event_that_arrived_at_the_time_of_the_revocation_is_a_finding_and_one_before_is_not_known() -> None:
    found, before = late_by(KEYS[:1], NOON_US), late_by(KEYS[:1], NOON_US - 1)

    assert found == ([2], [])
    assert (before[0], len(before[1])) == ([], 1)


def test_an_event_after_a_revocation_that_is_written_with_escapes_is_late_too() -> None:
    def revoked_with_escapes(key: NodeKey) -> EditEntry:
        return parse_edit(revoked(key).raw.replace(b'"what":"revoked"', rb'"what":"\u0072evoked"'))

    assert b'"revoked"' not in revoked_with_escapes(KEYS[0]).raw
    assert late_by(KEYS[:1], NOON_US, entry_of_revocation=revoked_with_escapes) == ([2], [])


def test_late_events_that_are_unproven_or_already_have_a_finding_give_no_more_findings() -> None:
    finding = Finding("signature", 2, "the event is not what its key signed")

    assert late_by(KEYS[:1], NOON_US, "unknown-key") == ([], [])
    assert late_by(KEYS[:1], NOON_US, known=[finding]) == ([], [])
    assert late_by(KEYS[:1], NOON_US, known=[finding._replace(check="entry")]) == ([2], [])


@pytest.mark.parametrize(("keys", "more"), [(3, None), (4, "1 more key"), (5, "2 more keys")])
def test_of_many_keys_with_late_events_three_are_named_and_the_others_counted(keys: int, more: str | None) -> None:
    _, not_known = late_by(KEYS[:keys], NOON_US - 1)

    assert [each.key_id in line for each, line in zip(KEYS, not_known[:3], strict=False)] == [True] * 3
    assert not_known[3:] == ([] if more is None else [f"the same for events by {more}"])


RAW = b'{"run":{"facets":{"a":{"_deleted":true},"signature":{"_deleted":true}}}}'
FACETS = [at for span in facet_spans(RAW) for at in (span.begin, span.end)]


def erasures(erased: Mapping[int, Sequence[int]], recorded: Sequence[tuple[int, str]], *, is_whole: bool) -> Report:
    """The report on events with these erased facets (numbers by entry), where the log records these erasures."""
    checker, report = Erasures(), Report()
    for index, numbers in erased.items():
        checker.take(
            {"kind": "event", "index": index, "facets": FACETS, "parts": dict.fromkeys(map(str, numbers))}, RAW
        )
    for index, path in recorded:
        entry = edit_entry(
            "1", NOON_US, "ann", [EditItem(("entry", str(index)), f"erased:{path}", {"reason": "asked"})]
        )
        checker.take({"kind": "edit", "type": "EDIT", "index": 99}, entry.raw)
    checker.check(report, is_whole=is_whole)
    return report


@pytest.mark.parametrize(
    ("erased", "recorded", "unexplained"),
    [
        ([0], [(7, "run.facets.a")], None),
        ([0, 1], [(7, "run.facets.a")], None),
        ([1], [], "run.facets.signature"),
        ([0, 1], [], "run.facets.a, run.facets.signature"),
        ([0], [(8, "run.facets.a")], "run.facets.a"),
        ([0], [(7, "run.facets.b")], "run.facets.a"),
        ([2], [], None),
    ],
    ids=["recorded", "its signature with it", "alone", "both", "of another event", "of another facet", "no facet"],
)
def test_an_erasure_is_explained_by_a_record_of_that_facet_of_that_event(
    erased: list[int], recorded: list[tuple[int, str]], unexplained: str | None
) -> None:
    report = erasures({7: erased}, recorded, is_whole=True)

    assert [(each.check, each.entry, each.message.partition(" is marked")[0]) for each in report.findings] == (
        [] if unexplained is None else [("erasure", 7, unexplained)]
    )
    assert report.counts[UNEXPLAINED] == (unexplained is not None)


@pytest.mark.parametrize(("events", "more"), [(3, None), (4, "1 more entry"), (5, "2 more entries")])
def test_of_many_unexplained_erasures_in_part_of_a_log_three_are_named_and_the_others_counted(
    events: int, more: str | None
) -> None:
    report = erasures({index: [0] for index in range(events)}, [], is_whole=False)

    assert [f"of entry {index}:" in line for index, line in enumerate(report.not_known[:3])] == [True] * 3
    assert report.not_known[3:] == ([] if more is None else [f"the same for {more}"])
    assert (report.findings, report.counts[UNEXPLAINED]) == ([], events)


def links(places: Sequence[int], salt: str = "", verdict: str = "ok") -> list[ChainLink]:
    signed = record(EPOCH, max(places) + 1, salt=salt)
    return [link_of(signed[place].raw, verdict=verdict) for place in places]


def test_of_a_chain_with_many_gaps_three_gaps_are_named_and_all_missing_events_counted() -> None:
    report = Report()

    check_chains(links([0, 2, 4, 6, 9, 13]), report)

    assert [each.partition("; ")[2] for each in report.checked] == ["8 missing, 0 forks, 0 inconsistent"]
    assert ["place 1 sent" in report.not_known[0], "place 5 sent" in report.not_known[2]] == [True, True]
    assert report.not_known[3:] == [f"what node {NODE} sent at 2 more gaps: 5 events"]
    assert report.findings == []


def test_contradictions_that_no_valid_key_signed_are_not_findings_and_after_three_they_are_counted() -> None:
    report = Report()

    check_chains([*links(range(5)), *links(range(5), "another", "unknown-key")], report)

    lines = [each for each in report.not_known if each.startswith("who contradicts")]
    assert ([each.partition(", place ")[2][:1] for each in lines], report.findings) == (["0", "1", "2", ""], [])
    assert lines[3] == f"who contradicts node {NODE} at 2 more places"


def test_whether_an_erased_event_came_again_or_another_was_signed_is_not_known() -> None:
    report, signed = Report(), record(EPOCH, 3)

    check_chains([link_of(each.raw) for each in (*signed, erased(signed[1]))], report)

    where = f"node {NODE}, epoch {EPOCH}, place 1"
    unknown = "whether an event arrived again or a different one was signed is unknown: it was erased"
    assert (report.not_known, report.findings) == ([f"what {where} sent: {unknown}"], [])


def test_contradictions_that_a_valid_key_signed_are_all_findings() -> None:
    report = Report()

    check_chains([*links(range(5)), *links(range(5), "another")], report)

    assert [each.message.partition(", place ")[2][:1] for each in report.findings] == ["0", "1", "2", "3", "4"]
    assert "5 forks, 0 inconsistent" in report.checked[0]


def test_without_events_in_a_chain_it_is_not_known_what_nodes_sent() -> None:
    report = Report()

    check_chains([], report)

    assert (report.checked, len(report.not_known)) == ([], 1)
