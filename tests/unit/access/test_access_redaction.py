"""Answers for a caller who may not see every name in them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.access.redaction import Format, Redactor
from headwater.model.names import AnyNode, DatasetId, JobId, readings

SECRET = bytes(32)


def first_reading(node_id: str) -> Iterator[AnyNode]:
    return (reading.node for reading in islice(readings(node_id), 1))


def within(*namespaces: str) -> Redactor:
    return Redactor(lambda namespace: namespace in namespaces, frozenset(), first_reading, SECRET)


def without_columns(*names: str) -> Redactor:
    return Redactor(None, frozenset(names), first_reading, SECRET)


def test_a_node_outside_the_scopes_keeps_its_kind_times_and_edges() -> None:
    node = {
        "id": "dataset:vault:people",
        "type": "DATASET",
        "data": {
            "id": {"namespace": "vault", "name": "people"},
            "namespace": "vault",
            "name": "people",
            "createdAt": "2026-05-22T14:23:11.000Z",
            "description": "who they are",
            "fields": [{"name": "number"}],
            "facets": {"schema": {"fields": [{"name": "number"}]}},
            "deleted": False,
        },
        "inEdges": [{"origin": "job:sales:load", "destination": "dataset:vault:people"}],
    }

    seen = within("sales").over(node)

    name = seen["data"]["name"]
    assert name.startswith("redacted-")
    assert seen == {
        "id": f"dataset:redacted:{name}",
        "type": "DATASET",
        "data": {
            "id": {"namespace": "redacted", "name": name},
            "namespace": "redacted",
            "name": name,
            "createdAt": "2026-05-22T14:23:11.000Z",
            "description": "redacted",
            "fields": [],
            "facets": {},
            "deleted": False,
        },
        "inEdges": [{"origin": "job:sales:load", "destination": f"dataset:redacted:{name}"}],
    }


def test_a_hidden_name_is_removed_from_every_other_text_too() -> None:
    answer = {
        "summary": "run 7 of fill failed; it wrote vault/people",
        "findings": [{"nodeId": "job:vault:fill", "words": "fill failed"}, {"nodeId": "dataset:vault:people"}],
    }

    seen = within("sales").over(answer)

    assert seen["summary"] == "run 7 of redacted failed; it wrote redacted/redacted"
    assert seen["findings"][0]["words"] == "redacted"


def test_a_parent_job_is_hidden_by_its_own_namespace() -> None:
    jobs = {("plan", "1"): JobId("vault", "plan"), ("plan", "2"): JobId("sales", "plan")}
    redactor = replace(within("sales"), job=lambda name, uuid: jobs.get((name, uuid)))
    child = {"namespace": "sales", "name": "load", "parentJobName": "plan"}

    of_hidden, of_shown, of_unknown, of_nothing, hidden_parent = (
        redactor.over(answer)
        for answer in (
            child | {"parentJobUuid": "1", "description": "a step of plan"},
            child | {"parentJobUuid": "2"},
            child | {"parentJobUuid": "3"},
            {"namespace": "sales", "name": "load", "parentJobName": None, "parentJobUuid": None},
            {"namespace": "vault", "name": "plan"},
        )
    )

    assert of_hidden == child | {
        "parentJobName": hidden_parent["name"],
        "parentJobUuid": None,
        "description": "a step of redacted",
    }
    assert of_shown == child | {"parentJobUuid": "2"}
    assert of_unknown["parentJobName"] not in ("plan", hidden_parent["name"])
    assert of_nothing["parentJobName"] is None


def test_a_hidden_item_keeps_the_formats_numbers_and_words_but_no_free_text() -> None:
    answer_format = Format(
        frozenset({"kind", "score", "reason", "words", "lastRun", "args"}),
        {"kind": frozenset({"failed-run"}), "reason": frozenset({"symlinks"})},
        frozenset({"reason", "lastRun"}),
    )
    finding = {
        "nodeId": "job:vault:fill",
        "kind": "failed-run",
        "score": 0.9,
        "reason": "it is paid less than people think",
        "words": "fill failed",
        "lastRun": {"id": "r1"},
        "args": {"since": "1999"},
        "owners": [{"name": "ann"}],
        "rowsPaid": 7,
    }
    redactor = Redactor(lambda namespace: namespace != "vault", frozenset(), first_reading, SECRET, answer_format)

    seen = redactor.over(finding)

    assert seen.pop("nodeId").startswith("job:redacted:redacted-")
    assert seen == {
        "kind": "failed-run",
        "score": 0.9,
        "reason": None,
        "words": "redacted",
        "lastRun": None,
        "args": {},
        "owners": [],
        "rowsPaid": None,
    }


def test_a_word_of_the_format_stays_and_a_text_that_begins_like_a_node_id_is_redacted() -> None:
    ours = Format(words={"reason": frozenset({"symlinks"})})
    redactor = Redactor(lambda namespace: namespace == "sales", frozenset(), first_reading, SECRET, ours)

    by_word, by_text = (
        redactor.over({"nodeId": "dataset:vault:people", "reason": each})["reason"]
        for each in ("symlinks", "job:sales:ann is paid 9")
    )

    assert (by_word, by_text) == ("symlinks", "redacted")


def test_each_object_within_a_hidden_one_has_the_pseudonym_of_its_own_name() -> None:
    redactor = within("sales")
    version = {"namespace": "vault", "name": "people", "job": {"namespace": "vault", "name": "fill"}}

    seen = redactor.over({**version, "run": {"id": "r1", "name": "people"}})

    people, fill = (redactor.over({"namespace": "vault", "name": name})["name"] for name in ("people", "fill"))
    assert (seen["name"], seen["job"]["name"], seen["run"]["name"]) == (people, fill, people)


def test_an_object_under_the_key_of_a_name_is_redacted_like_any_other() -> None:
    seen = within("sales").over({"namespace": "sales", "name": "load", "job": {"namespace": "vault", "name": "fill"}})

    assert (seen["name"], seen["job"]["namespace"]) == ("load", "redacted")


def test_an_ambiguous_node_id_is_hidden_if_any_of_its_readings_is() -> None:
    first, second = DatasetId("sales:vault", "people"), DatasetId("sales", "vault:people")

    for shown in (first, second):
        redactor = replace(within(shown.namespace), node=lambda _: [first, second])
        seen = redactor.over({"id": "dataset:sales:vault:people", "words": "paid"})
        assert seen["id"].startswith("dataset:redacted:redacted-")
        assert seen["words"] == "redacted"
        assert redactor.over(["dataset:sales:vault:people"]) == [seen["id"]]


def test_a_hidden_name_that_begins_with_another_is_redacted_completely_in_a_text() -> None:
    names = ("lake", "lake.people", "lake.people.paid", "lake.people.paid.late")

    seen = within().over([*({"namespace": "vault", "name": name} for name in names), " ".join(names)])

    assert seen[-1] == "redacted redacted redacted redacted"


def test_a_shown_name_is_not_redacted_in_other_texts() -> None:
    answer = [{"namespace": "sales", "name": "costs"}, {"namespace": "vault", "name": "people"}, "sales: costs"]

    assert within("sales").over(answer)[-1] == "sales: costs"


def test_hidden_names_of_three_letters_or_more_are_redacted_in_other_texts() -> None:
    seen = within().over([{"namespace": "hr", "name": "pay"}, "as in hr: no pay"])

    assert seen[-1] == "as in hr: no redacted"


@pytest.mark.parametrize(
    "path", [None, 7, "src/load.py", [], ["dataset:vault:people"], [{"origin": "dataset:sales:a", "destination": 1}]]
)
def test_a_description_remains_where_no_edge_ends_at_a_hidden_node(path: object) -> None:
    item = {"id": "dataset:sales:b", "description": "a plus one", "origin": "dataset:sales:a", "path": path}

    assert within("sales").over(item)["description"] == "a plus one"


def test_a_hidden_runs_id_remains_only_if_it_is_a_uuid() -> None:
    with_uuid, with_name = (
        {"run": {"id": run_id, "job": {"namespace": "vault", "name": "fill"}}}
        for run_id in ("0198f7d0-1111-7222-8333-444455556666", "pay-people-2026")
    )

    seen = [within("sales").over(each)["run"]["id"] for each in (with_uuid, with_name, with_name)]

    assert seen[0] == with_uuid["run"]["id"]
    assert seen[1].startswith("redacted-")
    assert seen[1] == seen[2]


def test_the_id_of_a_hidden_run_is_redacted_also_where_its_job_is_not_beside_it() -> None:
    owners = {"pay-people-2026": ["vault"], "load-1": ["sales"], "pay": ["vault", "sales"]}
    redactor = replace(
        within("sales"),
        format=Format(frozenset({"run", "runs", "words", "facets"})),
        owner_of_run=lambda run_id: owners.get(run_id, []),
    )
    uuid = "0198f7d0-1111-7222-8333-444455556666"
    answer = {
        "nodeId": "dataset:sales:costs",
        "run": "pay-people-2026",
        "runs": ["load-1", "pay-people-2026", "unknown", uuid, "pay"],
        "words": "load-1 read what pay-people-2026 wrote",
        "facets": {"own": {"run": "load-1"}},
    }

    seen = redactor.over(answer)

    hidden, another = redactor.run("pay-people-2026"), redactor.run("pay")
    assert seen == answer | {
        "run": hidden,
        "runs": ["load-1", hidden, "unknown", uuid, another],
        "words": "load-1 read what redacted wrote",
    }


def test_the_transformation_from_a_hidden_column_is_not_described() -> None:
    step = {
        "origin": "datasetField:vault:people:paid",
        "destination": "datasetField:sales:costs:sum",
        "description": "sum(paid)",
        "type": "DIRECT",
    }

    place = {"id": step["destination"], "reason": "takes its value from people:paid", "path": [step]}

    seen = within("sales").over(place)

    (shown,) = seen["path"]
    assert (shown["description"], shown["type"], shown["destination"]) == ("redacted", "DIRECT", step["destination"])
    assert (seen["id"], seen["reason"]) == (step["destination"], "redacted")


def test_a_description_of_all_sources_of_a_column_is_redacted_if_one_is_hidden() -> None:
    def step(description: str) -> dict[str, str]:
        return {"type": "DIRECT", "subtype": "AGGREGATION", "description": description}

    shown: dict[str, Any] = {"namespace": "sales", "name": "bills", "field": "sum"}
    as_all, own = (
        shown | {"transformations": [step(text), step("round")], "transformationDescription": text}
        for text in ("sum - paid", "sum")
    )
    paid = {"namespace": "vault", "name": "people", "field": "paid"}
    about_all = {"transformationDescription": "sum - paid", "transformationType": "AGGREGATION"}

    with_hidden, without = (
        within("sales").over({**about_all, "inputFields": sources}) for sources in ([None, as_all, paid, own], [as_all])
    )

    assert (with_hidden["transformationDescription"], with_hidden["transformationType"]) == ("redacted", "AGGREGATION")
    redacted = {"transformationDescription": "redacted"}
    null, seen_as_all, _, seen_own = with_hidden["inputFields"]
    assert null is None
    assert seen_as_all == {**shown, "transformations": [step("redacted"), step("redacted")], **redacted}
    assert seen_own == {**own, **redacted}
    assert without == {**about_all, "inputFields": [as_all]}


@pytest.mark.parametrize(("job", "summary"), [("job:vault:fill", "redacted, so"), ("job:sales:load", "it failed, so")])
def test_a_summary_loses_the_words_of_its_first_finding_if_that_is_hidden(job: str, summary: str) -> None:
    answer = {"summary": "it failed, so", "findings": [{"nodeId": job, "words": "it failed"}]}

    assert within("sales").over(answer)["summary"] == summary


def test_a_runs_version_of_a_hidden_dataset_has_no_facets() -> None:
    dataset_version = {
        "datasetVersionId": {"namespace": "vault", "name": "people", "version": "v1"},
        "facets": {"dataQualityMetrics": {"columnMetrics": {"paid": {"max": 9}}}},
    }

    seen = within("sales").over({"inputDatasetVersions": [dataset_version]})["inputDatasetVersions"][0]

    assert seen["facets"] == {}
    assert seen["datasetVersionId"]["namespace"] == "redacted"


def test_a_hidden_input_of_a_column_hides_the_source_and_not_the_column() -> None:
    answer_format = Format(frozenset({"targetField"}), nullable=frozenset({"field", "targetField"}))
    redactor = Redactor(
        lambda namespace: namespace == "sales", frozenset({"ssn"}), first_reading, SECRET, answer_format
    )
    paid = {"namespace": "vault", "dataset": "people", "field": "paid", "targetField": None}
    inputs = [paid, {**paid, "field": None, "targetField": "sum"}, {**paid, "targetField": "ssn"}]
    costs = {"namespace": "sales", "dataset": "costs", "inputFields": inputs}
    people = {**costs, "namespace": "vault", "dataset": "people"}

    seen = redactor.over({"datasetInputFields": [costs, people], "facets": {"own": paid | {"targetField": "sum"}}})

    hidden = redactor.stand_in("redacted", "vault", "people", "paid")
    assert [(each["field"], each["targetField"]) for each in seen["datasetInputFields"][0]["inputFields"]] == [
        (hidden, None),
        (None, "sum"),
        (hidden, redactor.column("ssn")),
    ]
    assert seen["datasetInputFields"][1]["inputFields"] == []
    assert seen["facets"]["own"]["targetField"] == "redacted"


def test_same_names_in_two_namespaces_have_two_stand_ins_and_another_secret_gives_others() -> None:
    answer = [{"namespace": "a", "name": "x"}, {"namespace": "b", "name": "x"}]

    first, second = (each["name"] for each in within().over(answer))

    assert first != second
    other = Redactor(lambda _: False, frozenset(), first_reading, bytes(31) + b"1")
    assert other.over(answer)[0]["name"] != first


def test_a_restricted_column_is_hidden_as_a_whole_word_in_any_case() -> None:
    answer = {
        "query": "upper(SSN), old_ssn, p.ssn",
        "columnMetrics": {"ssn": {"nullCount": 1}},
        "fields": [{"name": "ssn", "type": "int"}, {"name": "lesson"}],
        "id": "datasetField:lake:people:ssn",
        "table": {"namespace": "ssn", "name": "ssn"},
    }

    seen = without_columns("ssn").over(answer)

    name = seen["fields"][0]["name"]
    assert name.startswith("restricted-")
    assert seen["query"] == f"upper({name}), old_ssn, p.{name}"
    assert seen["columnMetrics"] == {name: {"nullCount": 1}}
    assert seen["fields"][1] == {"name": "lesson"}
    assert seen["id"] == f"datasetField:lake:people:{name}"
    assert seen["table"] == {"namespace": "ssn", "name": "ssn"}  # a dataset is not a column


def test_a_restricted_column_named_like_a_key_of_the_format_hides_only_keys_of_columns() -> None:
    answer = {"name": "x", "fields": {"name": {"inputFields": []}}, "columnMetrics": {"name": {}}}

    seen = without_columns("name").over(answer)

    assert seen.keys() == answer.keys()
    assert "name" not in (*seen["fields"], *seen["columnMetrics"])


KEYS = [
    *("name", "fields", "data", "id", "job", "zzcol", "facets", "words", "summary", "findings", "inEdges", "origin"),
    *("path", "description", "before", "inputFields", "transformations", "transformationDescription"),
    *("parentJobName", "parentJobUuid"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["zzcol", "a zzcol b", "job:zzns:zzjob", "x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner)
        | st.fixed_dictionaries(
            {"namespace": st.sampled_from(["zzns", "open"]), "name": st.just("zzname"), "more": inner}
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_answer_of_any_shape_contains_hidden_names(answer: Any) -> None:  # noqa: ANN401  any JSON
    redactor = Redactor(lambda namespace: namespace == "open", frozenset({"zzcol"}), first_reading, SECRET)

    text = json.dumps(redactor.over(answer))

    assert not [word for word in ("zzcol", "zzns", "zzjob") if word in text]


def test_a_body_without_restricted_names_is_recognized() -> None:
    redactor = without_columns("ssn")

    assert redactor.is_clear(b'{"name":"orders","note":"nessns"}')
    for body in (b'{"name":"ssn"}', b'{"note":"by SSN, then name"}', rb'{"name":"\u0073sn"}'):
        assert not redactor.is_clear(body)
    assert not within("lake").is_clear(b"{}")


def test_a_restricted_word_of_the_format_stays_a_key_and_is_hidden_as_a_value_and_in_facets() -> None:
    answer_format = Format(frozenset({"type", "createdAt", "facets"}))
    redactor = Redactor(None, frozenset({"type", "createdAt"}), first_reading, SECRET, answer_format)
    hidden = redactor.column("createdAt")

    seen = redactor.over(
        {
            "createdAt": "2026-05-22",
            "fields": [{"name": "createdAt", "type": "date"}],
            "facets": {"columnLineage": {"fields": {"createdAt": {}}}, "own": {"createdAt": 1}},
        }
    )

    assert seen == {
        "createdAt": "2026-05-22",
        "fields": [{"name": hidden, "type": "date"}],
        "facets": {"columnLineage": {"fields": {hidden: {}}}, "own": {hidden: 1}},
    }
