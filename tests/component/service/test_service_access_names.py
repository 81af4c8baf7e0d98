"""Who may join the names of a dataset, and what an operator's own rule hides."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.app import START_US, dataset, event, facet, schema
from tests.support.callers import Caller, caller, guarded, post

SECRETS = ("bonus", "kept from all", "team-hr", "salaries")
SALARIES = dataset(
    "salaries",
    "hr",
    schema=schema("bonus"),
    documentation=facet(description="kept from all"),
    ownership=facet(owners=[{"name": "team-hr"}]),
)


def run_of(job: str, *outputs: object, at: str = "15:00:00") -> dict[str, Any]:
    """A run of a job in this namespace."""
    run, time = {"runId": str(uuid4())}, f"2026-05-22T{at}Z"
    return event(run=run, eventTime=time, eventType="COMPLETE", job={"namespace": job, "name": "x"}, outputs=outputs)


def alias(namespace: str, name: str) -> dict[str, Any]:
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": "TABLE"}])


def renamed_from(namespace: str, name: str) -> dict[str, Any]:
    return facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": namespace, "name": name})


def in_catalog(uri: str) -> dict[str, Any]:
    return facet(framework="iceberg", type="hive", name="ice", metadataUri=uri, warehouseUri="s3://all")


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Caller]:
    with guarded(tmp_path) as admin:
        assert post(admin, run_of("hr", SALARIES)) == [201]
        yield admin


CLAIMS = {
    "symlinks": run_of("etl", dataset("mine", "etl", symlinks=alias("hr", "salaries"))),
    "symlinks of what is another's": run_of("etl", dataset("salaries", "hr", symlinks=alias("etl", "mine"))),
    "lifecycleStateChange": run_of("etl", dataset("mine", "etl", lifecycleStateChange=renamed_from("hr", "salaries"))),
    "headwater_engine_catalog": run_of(
        "etl", dataset("mine", "etl", headwater_engine_catalog=facet(namespace="hr", prefix=""))
    ),
    "catalog": run_of(
        "etl", dataset("mine", "etl", symlinks=alias("etl", "a.b"), catalog=in_catalog("thrift://metastore:9083"))
    ),
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=[*CLAIMS])
def test_a_sender_cannot_join_names_whose_namespaces_it_does_not_cover(admin: Caller, claim: dict[str, Any]) -> None:
    sender, reader = caller(admin, "ingest", scopes=("etl",)), caller(admin, "read", scopes=("etl",))
    owner = caller(admin, "read", scopes=("hr",))

    refused = sender("POST", "/api/v1/lineage", content=json.dumps(claim))
    post(sender, run_of("etl", dataset("mine", "etl"), dataset("salaries", "hr"), at="16:00:00"))

    assert refused.status_code == 403
    message = refused.json()["message"]
    assert "requires a scope that covers namespace" in message
    assert len(message.split(" ", 1)[1]) < 170, "an emitter stores no more"
    answers = [
        reader("GET", path).text
        for path in (
            "/api/v1/namespaces/etl/datasets/mine",
            "/api/v1/lineage?nodeId=dataset:etl:mine",
            "/api/v1/namespaces/etl/datasets",
        )
    ]
    assert not [word for word in SECRETS for text in answers if word in text]
    assert owner("GET", "/api/v1/namespaces/hr/datasets/salaries").json()["fields"][0]["name"] == "bonus"


def test_a_refusal_names_the_facet_and_the_missing_namespace(admin: Caller) -> None:
    sender = caller(admin, "ingest", scopes=("etl",), name="edge")

    answer = sender("POST", "/api/v1/lineage", content=json.dumps(CLAIMS["symlinks"]))

    assert answer.json()["message"] == (
        "key:edge may not post this event: symlinks requires a scope that covers namespace 'hr'; "
        "its scopes are etl: ask an admin for one (docs/access.md)"
    )


def test_joining_names_requires_scopes_for_both_namespaces_and_repeating_it_does_not(admin: Caller) -> None:
    owner, guest = (
        caller(admin, "ingest", scopes=("etl", "s3://lake", "aws:*")),
        caller(admin, "ingest", scopes=("etl",)),
    )
    claims = [
        run_of("etl", dataset("t", "s3://lake", symlinks=alias("aws:glue:1:2", "table/d/t")), at=f"15:00:0{second}")
        for second in range(3)
    ]

    assert post(guest, claims[0]) == [403]
    assert post(owner, claims[1]) == [201]
    assert post(guest, claims[2]) == [201]


def test_anybody_may_join_names_of_one_namespace_unless_one_has_an_alias_elsewhere(admin: Caller) -> None:
    sender = caller(admin, "ingest", scopes=("etl",))
    elsewhere = run_of("etl", dataset("linked", "lake", symlinks=alias("hr", "salaries")))
    assert post(admin, elsewhere) == [201]

    within = run_of("etl", dataset("a", "lake", symlinks=alias("lake", "b")), dataset("a", "lake"))
    across = run_of("etl", dataset("a", "lake", symlinks=alias("lake", "linked")))
    answers = [sender("POST", "/api/v1/lineage", content=json.dumps(each)) for each in (within, across)]

    assert [answer.status_code for answer in answers] == [201, 403]
    assert "covers namespace 'lake'" in answers[1].json()["message"]


def test_an_engines_catalog_requires_scopes_for_the_names_of_the_tables_in_it(admin: Caller) -> None:
    place = "thrift://metastore:9083"
    table = dataset("wh/pay", "hr", schema=schema("bonus"), symlinks=alias(place, "db.pay"), catalog=in_catalog(place))
    assert post(admin, run_of("hr", table)) == [201]
    sender, reader = caller(admin, "ingest", scopes=("etl", place)), caller(admin, "read", scopes=("etl",))
    configured = facet(type="hive", metadataUri=place)

    claim = run_of("etl", dataset("ice", "etl", headwater_engine_catalog=configured))
    answer = sender("POST", "/api/v1/lineage", content=json.dumps(claim))
    used = post(sender, run_of("etl", dataset("ice.db.pay", "etl"), at="16:00:00"))

    assert (answer.status_code, used) == (403, [201])
    assert "headwater_engine_catalog requires a scope that covers the namespace of the dataset" in answer.text
    assert "'hr'" not in answer.text
    assert "bonus" not in reader("GET", "/api/v1/namespaces/etl/datasets/ice.db.pay").text
    owner = caller(admin, "ingest", scopes=("etl", "hr", place))
    assert post(owner, claim) == [201]


def test_a_refusal_does_not_name_the_namespace_of_a_datasets_alias(admin: Caller) -> None:
    sender = caller(admin, "ingest", scopes=("lake",))
    assert post(admin, run_of("etl", dataset("linked", "lake", symlinks=alias("hr", "salaries")))) == [201]

    claim = run_of("lake", dataset("a", "lake", symlinks=alias("lake", "linked")))
    answer = sender("POST", "/api/v1/lineage", content=json.dumps(claim))

    assert answer.status_code == 403
    assert "'hr'" not in answer.text
    assert "covers the namespace of the dataset" in answer.json()["message"]


def test_an_operators_rule_lets_producers_join_names_of_storage(tmp_path: Path) -> None:
    rule = """@id("storage") permit (principal in Role::"ingest", action == Action::"join", resource)
              when { context.namespace like "s3://*" || context.namespace like "arn:aws:glue:*" };"""
    claim = run_of("etl", dataset("t", "s3://lake", symlinks=alias("arn:aws:glue:eu:1", "table/d/t")))
    other = run_of("etl", dataset("t", "s3://lake", symlinks=alias("hr", "salaries")))

    with guarded(tmp_path, rule) as admin:
        assert post(caller(admin, "ingest", scopes=("etl",)), claim, other) == [201, 403]


def test_separated_names_stay_separate_and_their_producer_may_still_post(admin: Caller) -> None:
    sender = caller(admin, "ingest", scopes=("etl",))
    names = {"name": {"namespace": "etl", "name": "mine"}, "other": {"namespace": "hr", "name": "salaries"}}
    assert post(admin, CLAIMS["symlinks"]) == [201]

    separated = admin("POST", "/api/v1/identity/apart", json=names)
    again = run_of("etl", dataset("mine", "etl", symlinks=alias("hr", "salaries")), at="16:00:00")

    assert separated.status_code == 200
    assert post(sender, again) == [201]
    assert "bonus" not in admin("GET", "/api/v1/namespaces/etl/datasets/mine").text


def test_reads_of_the_past_respect_names_that_are_separated_now(admin: Caller) -> None:
    reader, owner = caller(admin, "read", scopes=("etl",)), caller(admin, "read", scopes=("hr",))
    assert post(admin, CLAIMS["symlinks"], run_of("etl", at="15:00:01")) == [201, 201]
    size = int(admin("GET", "/api/v1/namespaces").headers["headwater-log-size"])
    names = {"name": {"namespace": "etl", "name": "mine"}, "other": {"namespace": "hr", "name": "salaries"}}
    admin("POST", "/api/v1/identity/apart", json=names)

    paths = [
        f"/api/v1/{read}"
        for then in (f"logSize={size}", "asOf=2026-05-22T15:00:00Z")
        for read in (
            f"namespaces/etl/datasets/mine?{then}",
            f"namespaces/etl/datasets?{then}",
            f"lineage?nodeId=dataset:etl:mine&{then}",
        )
    ]
    paths += [f"/api/v1/diff?from=log:{size}&nodeId=dataset:etl:mine", f"/api/v1/diff?from=log:1&to=log:{size}"]
    answers = {path: reader("GET", path) for path in paths}

    assert not [path for path, answer in answers.items() for word in SECRETS if word in answer.text]
    assert answers[f"/api/v1/namespaces/etl/datasets/mine?logSize={size}"].status_code == 403
    assert "bonus" in admin("GET", paths[0]).text
    assert owner("GET", "/api/v1/namespaces/hr/datasets/salaries").status_code == 200
    assert owner("GET", f"/api/v1/namespaces/hr/datasets?logSize={size}").status_code == 200


def test_reads_of_the_past_respect_names_that_a_split_of_two_others_separated(admin: Caller) -> None:
    reader = caller(admin, "read", scopes=("etl", "lake"))
    assert post(admin, run_of("etl", dataset("mine", "etl", symlinks=alias("lake", "mid")))) == [201]
    assert post(admin, run_of("lake", dataset("mid", "lake", symlinks=alias("hr", "salaries")))) == [201]
    size = int(admin("GET", "/api/v1/namespaces").headers["headwater-log-size"])
    names = {"name": {"namespace": "etl", "name": "mine"}, "other": {"namespace": "lake", "name": "mid"}}
    admin("POST", "/api/v1/identity/apart", json=names)
    path = "/api/v1/namespaces/etl/datasets/mine"

    now, then = reader("GET", path), reader("GET", f"{path}?logSize={size}")

    assert "bonus" in admin("GET", f"{path}?logSize={size}").text
    assert (now.status_code, then.status_code) == (200, 403)
    assert not [word for word in SECRETS if word in now.text + then.text]


def test_reads_of_the_past_respect_names_that_a_rename_would_have_joined_had_it_not_failed(admin: Caller) -> None:
    reader, owner = caller(admin, "read", scopes=("etl",)), caller(admin, "read", scopes=("etl", "hr"))
    renaming = run_of("etl", dataset("mine", "etl", lifecycleStateChange=renamed_from("hr", "salaries")), at="16:00:00")
    assert post(admin, {**renaming, "eventType": "START"}) == [201]
    size = int(admin("GET", "/api/v1/namespaces").headers["headwater-log-size"])
    assert post(admin, {**renaming, "eventType": "FAIL", "eventTime": "2026-05-22T16:01:00Z"}) == [201]
    path = "/api/v1/namespaces/etl/datasets/mine"

    now, then = reader("GET", path), reader("GET", f"{path}?logSize={size}")

    assert "bonus" in owner("GET", f"{path}?logSize={size}").text
    assert (now.status_code, then.status_code) == (200, 403)
    assert "bonus" not in now.text


@pytest.mark.parametrize("spelling", ["S3://pay", "s3a://pay", "s3n://pay/"])
def test_another_spelling_of_a_name_does_not_hide_it_from_its_owners(admin: Caller, spelling: str) -> None:
    owner, sender = caller(admin, "read", scopes=("s3://pay",)), caller(admin, "ingest", scopes=("etl",))
    assert post(admin, run_of("hr", dataset("people", "s3://pay", schema=schema("iban")))) == [201]

    assert post(sender, run_of("etl", dataset("people", spelling))) == [201]

    assert owner("GET", "/api/v1/namespaces/s3%3A%2F%2Fpay/datasets/people").json()["fields"][0]["name"] == "iban"


RULE = """@id("no-payroll-by-keys")
forbid (principal, action, resource) when { context.namespace like "payroll*" && !(principal in Role::"admin") };"""


@pytest.mark.parametrize("scopes", [("*",), ("lake", "etl", "payroll*")])
def test_what_an_operators_rule_forbids_is_hidden_in_every_read(tmp_path: Path, scopes: tuple[str, ...]) -> None:
    pay = event(
        eventType="COMPLETE",
        job={"namespace": "payroll-eu", "name": "zz_pay", "facets": {"sql": facet(query="SELECT zz_salary")}},
        inputs=[dataset("a")],
        outputs=[dataset("zz_people", "payroll-eu", schema=schema("zz_iban"))],
    )
    with guarded(tmp_path, RULE) as admin:
        assert post(admin, pay, run_of("etl", dataset("a"))) == [201, 201]
        holder = caller(admin, "read", scopes=scopes)

        paths = {
            "jobs": 200,
            "search?q=zz": 200,
            "namespaces": 200,
            "lineage?nodeId=dataset:lake:a": 200,
            "impact?nodeId=dataset:lake:a": 200,
            "namespaces/lake/datasets": 200,
            "namespaces/payroll-eu/datasets": 403,
            "lineage?nodeId=dataset:payroll-eu:zz_people": 403,
            "events/lineage": 403,
            "diff?from=log:0": 403,
            "diff?from=log:0&namespace=lake": 200,
            "drift": 403,
        }
        answers = {path: holder("GET", f"/api/v1/{path}") for path in paths}
        graphql = holder("POST", "/api/v1-beta/graphql", json={"query": "{ datasets { name } }"})

        assert {path: answer.status_code for path, answer in answers.items()} == paths
        assert not [path for path, answer in answers.items() if "zz_" in answer.text.replace("q=zz", "")]
        assert not [path for path, answer in answers.items() if answer.status_code == 200 and "payroll" in answer.text]
        assert graphql.status_code == 403
        assert "zz_people" in admin("GET", "/api/v1/lineage?nodeId=dataset:lake:a").text


def test_an_operators_rule_about_an_unknown_namespace_hides_nothing(tmp_path: Path) -> None:
    with guarded(tmp_path, RULE) as admin:
        assert post(admin, run_of("etl", dataset("a"))) == [201]
        holder = caller(admin, "read", scopes=("*",))

        assert holder("GET", "/api/v1/events/lineage").status_code == 200
        assert holder("POST", "/api/v1-beta/graphql", json={"query": "{ d: datasets { name } }"}).status_code == 200


PAID = {"namespace": "payroll-eu", "name": "zz_pay"}
MENTIONS = {
    "job": {"job": PAID},
    "output": {"outputs": [dataset("zz_pay", "payroll-eu")]},
    "input": {"inputs": [dataset("zz_pay", "payroll-eu")]},
    "source of a column": {
        "outputs": [dataset("a", columnLineage=facet(fields={"c": {"inputFields": [{**PAID, "field": "zz_paid"}]}}))]
    },
    "symlink": {"outputs": [dataset("a", symlinks=alias("payroll-eu", "zz_pay"))]},
    "use": {
        "job": {
            "namespace": "etl",
            "name": "load",
            "facets": {
                "lineage": facet(
                    entries=[{"type": "JOB", "inputs": [{**PAID, "type": "DATASET", "field": "zz_paid"}]}],
                )
            },
        }
    },
    "parent": {"run": {"runId": str(uuid4()), "facets": {"parent": facet(run={"runId": str(uuid4())}, job=PAID)}}},
    "root": {
        "run": {
            "runId": str(uuid4()),
            "facets": {
                "parent": facet(
                    run={"runId": str(uuid4())},
                    job={"namespace": "etl", "name": "p"},
                    root={"run": {"runId": str(uuid4())}, "job": PAID},
                )
            },
        }
    },
    "renaming": {"outputs": [dataset("a", lifecycleStateChange=renamed_from("payroll-eu", "zz_pay"))]},
    "engine's catalog": {
        "outputs": [dataset("a", headwater_engine_catalog=facet(namespace="payroll-eu", prefix="zz_pay"))]
    },
    "dependency": {
        "run": {"runId": str(uuid4()), "facets": {"jobDependencies": facet(upstream=[{"job": PAID}], downstream=[])}}
    },
}


@pytest.mark.parametrize("mention", MENTIONS.values(), ids=[*MENTIONS])
def test_a_name_that_an_operators_rule_forbids_is_hidden_wherever_it_was_mentioned_also_after_a_restart(
    tmp_path: Path, mention: dict[str, Any]
) -> None:
    statuses, texts = [], []
    body = event(**{"run": {"runId": str(uuid4())}, "eventType": "COMPLETE", "outputs": [dataset("a")], **mention})
    for start_s in (0, 3_600):
        with guarded(tmp_path, RULE, START_US + start_s * 1_000_000) as admin:
            if not start_s:
                assert post(admin, body) == [201]
            holder = caller(admin, "read", scopes=("*",))
            statuses.append(holder("GET", "/api/v1/events/lineage").status_code)
            texts.append(holder("GET", "/api/v1/lineage?nodeId=dataset:lake:a").text)

    assert statuses == [403, 403]
    assert not [text for text in texts if "zz_" in text or "payroll" in text]


def test_a_namespace_that_an_operators_rule_forbids_is_in_no_list_also_after_a_restart(tmp_path: Path) -> None:
    for start_s in (0, 3_600):
        with guarded(tmp_path, RULE, START_US + start_s * 1_000_000) as admin:
            if not start_s:
                assert admin("PUT", "/api/v1/namespaces/payroll-eu", json={"ownerName": "ann"}).status_code == 200
            holder = caller(admin, "read", scopes=("*",))

            assert "payroll" not in holder("GET", "/api/v1/namespaces").text


def test_another_name_of_a_dataset_is_hidden_in_texts_about_what_used_it(admin: Caller) -> None:
    nameless, mine = dataset("t", "", symlinks=alias("hr", "pay")), dataset("mine", "etl", symlinks=alias("hr", "pay"))
    used = event(
        run={"runId": "0198f7d0-0000-7000-8000-000000000001"},
        job={"namespace": "etl", "name": "x"},
        inputs=[nameless],
        outputs=[mine],
    )
    assert post(admin, used) == [201]

    seen = {
        scope: caller(admin, "read", scopes=(scope,))("GET", f"/api/v1/jobs/runs/{used['run']['runId']}")
        for scope in ("etl", "*")
    }

    (mended,) = seen["*"].json()["mended"]
    assert mended["what"] == "t, reported without a namespace, is pay in hr"
    assert seen["etl"].status_code == 200
    assert "pay" not in seen["etl"].text


def test_a_dataset_in_the_past_does_not_tell_the_hidden_name_under_which_it_was_shown(admin: Caller) -> None:
    linked = dataset("pay", "hr", symlinks=alias("etl", "mine"))
    assert post(admin, run_of("hr", linked, at="12:00:00"), run_of("etl", dataset("mine", "etl"), at="13:00:00")) == [
        201,
        201,
    ]
    path = "/api/v1/namespaces/etl/datasets/mine"

    then, hidden_then = (
        caller(admin, "read", scopes=(scope,))("GET", f"{path}?asOf=2026-05-22T12:30:00Z") for scope in ("*", "etl")
    )

    assert then.json()["physicalName"] == "pay"
    assert hidden_then.status_code == 200
    assert "pay" not in hidden_then.text


def test_a_finding_about_a_run_of_a_hidden_job_does_not_name_the_job(admin: Caller) -> None:
    table = dataset("table", "etl", schema=schema("id"))
    secret = {"namespace": "hr", "name": "payroll"}
    used, unfinished, reader = (f"0198f7d0-0000-7000-8000-00000000000{number}" for number in range(1, 4))

    def at(hour: int, kind: str, run_id: str, **members: object) -> dict[str, Any]:
        time = f"2026-05-22T{hour}:00:00Z"
        return event(eventType=kind, eventTime=time, run={"runId": run_id}, **members)

    events = [
        at(10, "COMPLETE", used, job={"namespace": "etl", "name": "load"}, outputs=[table]),
        at(11, "START", unfinished, job=secret, outputs=[table]),
        at(12, "COMPLETE", reader, job={"namespace": "etl", "name": "mart"}, inputs=[table]),
    ]
    assert post(admin, *events) == [201, 201, 201]

    told = {
        scope: caller(admin, "read", scopes=(scope,))("GET", f"/api/v1/root-cause?nodeId=run:{reader}").text
        for scope in ("etl", "*")
    }

    assert "a newer run of payroll was under way" in told["*"]
    assert "a newer run of redacted was under way" in told["etl"]
    assert "payroll" not in told["etl"]


def test_a_finding_about_other_inputs_does_not_name_hidden_ones(admin: Caller) -> None:
    lookup, made = dataset("lookup", "etl", schema=schema("id")), dataset("made", "etl", schema=schema("id"))
    job = {"namespace": "etl", "name": "mart"}
    before, after = (f"0198f7d0-0000-7000-8000-00000000000{number}" for number in (4, 5))
    runs = [(before, 10, [lookup, dataset("payroll", "hr")]), (after, 11, [lookup])]
    for run_id, hour, inputs in runs:
        time = f"2026-05-22T{hour}:00:00Z"
        told = event(
            eventType="COMPLETE", eventTime=time, run={"runId": run_id}, job=job, inputs=inputs, outputs=[made]
        )
        assert post(admin, told) == [201]

    answers = {
        scope: caller(admin, "read", scopes=(scope,))("GET", f"/api/v1/root-cause?nodeId=run:{after}").text
        for scope in ("etl", "*")
    }

    assert "its inputs changed from" in answers["*"]
    assert "payroll" in answers["*"]
    assert "its inputs changed from" in answers["etl"]
    assert "payroll" not in answers["etl"]


def test_putting_a_job_does_not_tell_which_datasets_exist_beyond_the_scopes(admin: Caller) -> None:
    holder, inputs = caller(admin, "ingest"), [{"namespace": "hr", "name": name} for name in ("salaries", "guess")]
    bodies = [{"type": "BATCH", "inputs": [each], "outputs": []} for each in inputs]
    assert post(holder, event()) == [201]

    known, guessed = (holder("PUT", "/api/v1/namespaces/etl/jobs/load", json=body) for body in bodies)

    assert (known.status_code, guessed.status_code) == (200, 200)
    unknown = {"type": "BATCH", "inputs": [], "outputs": [{"namespace": "etl", "name": "guess"}]}
    assert holder("PUT", "/api/v1/namespaces/etl/jobs/load", json=unknown).status_code == 404


def test_putting_a_dataset_tells_neither_which_sources_exist_nor_their_addresses(admin: Caller) -> None:
    at, run = "postgres://payroll:5432", str(uuid4())
    admin("PUT", "/api/v1/sources/payroll", json={"type": "POSTGRESQL", "connectionUrl": at})
    holder = caller(admin, "ingest", "read")
    assert post(holder, event(run={"runId": run})) == [201]
    table = {"type": "DB_TABLE", "physicalName": "x", "runId": run}
    bodies = [{**table, "sourceName": name} for name in ("payroll", "guess")]

    known, guessed = (holder("PUT", "/api/v1/namespaces/etl/datasets/x", json=body) for body in bodies)

    assert (known.status_code, guessed.status_code) == (200, 200)
    events = holder("GET", f"/api/v1/jobs/runs/{run}/events")
    assert (known.json()["sourceName"], len(events.json()["events"])) == ("payroll", 3)
    assert at not in events.text
