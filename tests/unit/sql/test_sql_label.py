"""The dashboard that a comment names."""

import pytest

from headwater.sql.label import Label, label_of

REVENUE = Label("dashboards", "revenue", "by_supplier")


@pytest.mark.parametrize(
    ("sql", "label"),
    [
        ("/* dashboard: revenue, query: by_supplier */ SELECT 1", REVENUE),
        ("-- dashboard=revenue query=by_supplier\nSELECT 1", REVENUE),
        ("SELECT 1 /*dashboard='revenue',query='by_supplier'*/", REVENUE),
        ("/* dashboard: Revenue by supplier */ SELECT 1", Label("dashboards", "Revenue by supplier", "")),
        ("/*dashboard='Revenue%20by%20supplier'*/ SELECT 1", Label("dashboards", "Revenue by supplier", "")),
        ("/* namespace: bi; dashboard: revenue */ SELECT 1", Label("bi", "revenue", "")),
        ("/* asked by ann */ /* dashboard: revenue,\n query: by_supplier */ SELECT 1", REVENUE),
        ("SELECT '/* dashboard: revenue */'", None),
        ('SELECT 1 AS "-- dashboard: revenue"', None),
        ("/* the dashboard of ann */ SELECT 1", None),
        ("/* dashboard: */ SELECT 1", None),
        (f"/* dashboard: {'x' * 201} */ SELECT 1", None),
        ("SELECT 1", None),
        ("", None),
    ],
)
def test_a_comment_names_a_dashboard_and_text_in_quotes_does_not(sql: str, label: Label | None) -> None:
    assert label_of(sql) == label


def test_an_adversarial_text_is_read_in_linear_time() -> None:
    assert label_of("/*" + "dashboard " * 3_000 + "'" * 100_001) is None
