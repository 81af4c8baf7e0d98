"""The policies, and matching a path to its route."""

import pytest

from headwater.access.callers import Caller, Grant
from headwater.access.policy import Action, Policy, Question
from headwater.errors import InvalidInputError
from headwater.service.gate.rules import matched


def caller(*roles: str, knows_restricted: bool = False) -> Caller:
    return Caller("key:x", Grant(frozenset(roles), ("sales*",), knows_restricted=knows_restricted))


ACTIONS: tuple[Action, ...] = ("read", "ingest", "edit", "administer", "see-everything", "know-restricted")


@pytest.mark.parametrize(
    ("roles", "within", "beyond"),
    [
        ((), {"see-everything"}, set()),
        (("read",), {"read", "see-everything"}, set()),
        (("ingest",), {"ingest", "see-everything"}, set()),
        (("steward",), {"read", "edit", "see-everything", "know-restricted"}, {"know-restricted"}),
        (("admin",), {*ACTIONS}, {*ACTIONS}),
        (("read", "ingest"), {"read", "ingest", "see-everything"}, set()),
    ],
)
def test_a_role_permits_these_actions_within_and_beyond_its_scopes(
    roles: tuple[str, ...], within: set[str], beyond: set[str]
) -> None:
    policy = Policy()

    def allowed(*, covered: bool) -> set[str]:
        questions = (Question(action, "GET /x", "sales", covered) for action in ACTIONS)
        return {each.action for each in questions if policy.decide(caller(*roles), each).is_allowed}

    assert (allowed(covered=True), allowed(covered=False)) == (within, beyond)


def test_an_operators_rule_overrides_our_permission_and_is_named() -> None:
    policy = Policy('@id("no-payroll") forbid (principal, action, resource) when { context.namespace like "pay*" };')

    decision = policy.decide(caller("admin"), Question("read", "GET /x", "payroll", covered=True))

    assert decision == (False, ("no-payroll",))


def test_a_rule_without_an_id_is_named_too() -> None:
    policy = Policy("forbid (principal, action, resource);")

    decision = policy.decide(caller("admin"), Question("read", "GET /x", "payroll", covered=True))

    assert not decision.is_allowed
    assert [type(rule) for rule in decision.rules] == [str]


def test_a_rule_that_cannot_be_evaluated_forbids_and_one_that_cannot_be_parsed_is_refused() -> None:
    broken = Policy('forbid (principal, action, resource) when { context.nothing == "x" };')

    assert not broken.decide(caller("admin"), Question("read", "GET /x", "sales", covered=True)).is_allowed
    with pytest.raises(InvalidInputError, match="policies: "):
        Policy("permit (everybody);")


@pytest.mark.parametrize(
    ("scopes", "namespace", "covered"),
    [
        (("*",), "s3://bucket/a", True),
        (("sales*",), "sales-eu", True),
        (("s3://raw-*",), "s3://raw-1/x", True),
        (("sales",), "sales-eu", False),
        (("Sales",), "sales", False),
        (("S3://raw-*",), "S3://raw-1", True),
        (("s3://raw",), "S3A://raw/", True),
        (("s3a://raw",), "s3://raw", True),
        (("postgres://db:5432",), "postgresql://DB", True),
        (("postgres://*:5432",), "postgres://db:5433", False),
        (("postgres://*:5432",), "postgres://db", False),
        ((), "sales", False),
    ],
)
def test_a_scope_is_a_pattern_of_the_whole_namespace(scopes: tuple[str, ...], namespace: str, covered: bool) -> None:
    assert Grant(frozenset({"read"}), scopes).covers(namespace) is covered


def test_a_path_is_matched_as_it_was_sent_and_its_names_are_decoded() -> None:
    match = matched("GET", "/api/v1/namespaces/s3%3A%2F%2Fb/datasets/a%2Fb")

    assert match is not None
    assert match.route == "GET /api/v1/namespaces/{namespace}/datasets/{name}"
    assert match.parameters == {"namespace": "s3://b", "name": "a/b"}
    assert matched("PATCH", "/api/v1/jobs") is None
    assert matched("GET", "/api/v1/jobs/") is None
