"""A database as input and output, against a real PostgreSQL."""

import psycopg
import pytest

from tests.component.pipeline.pipeline_bench import Bench
from tests.support.postgres import Cluster

pytestmark = pytest.mark.spark


def test_a_table_is_read_and_another_created_appended_to_and_overwritten(
    bench: Bench, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{cluster.port}/postgres"
    monkeypatch.setenv("SHOP_USER", "shop")
    with psycopg.connect(cluster.url("postgres")) as db:
        db.execute("CREATE TABLE orders (id int, price numeric(10, 2))")
        db.execute("INSERT INTO orders SELECT n, n * 1.5 FROM generate_series(1, 6) n")
        db.commit()
        text = f"""
            input: {{sql: {{url: "{url}", table: orders, user_env: SHOP_USER}}}}
            pipeline: {{processors: [filter: id > 2]}}
            output: {{sql: {{url: "{url}", table: dear, mode: MODE, user_env: SHOP_USER}}}}
        """

        runs = [bench.run(text.replace("MODE", mode)) for mode in ("append", "append", "overwrite")]

        assert [run.result.error for run in runs] == [None] * 3
        totals = db.execute("SELECT count(*), sum(price) FROM dear").fetchone()
        assert totals is not None
        assert (totals[0], float(totals[1])) == (4, 27.0)
    assert [run.counters()[1] for run in runs] == [4, 4, 4]
    namespace = f"postgres://127.0.0.1:{cluster.port}"
    assert [(dataset["namespace"], dataset["name"]) for dataset in runs[0].last["inputs"]] == [
        (namespace, "postgres.public.orders")
    ]
    assert [(dataset["namespace"], dataset["name"]) for dataset in runs[0].last["outputs"]] == [
        (namespace, "postgres.public.dear")
    ]
    columns = runs[0].last["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [source["name"] for source in columns["price"]["inputFields"]] == ["postgres.public.orders"]
