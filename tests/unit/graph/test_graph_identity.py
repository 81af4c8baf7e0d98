"""Which names are one dataset, why, and how users split them."""

import random
from collections.abc import Callable, Iterable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.catalogs import place_of
from headwater.graph.identity import Identities
from headwater.graph.mending import mended_names, placed
from headwater.model.facts import Alias, Catalog, CatalogEntry, EngineCatalog
from headwater.model.merging import Seen
from headwater.model.names import DatasetId
from headwater.model.spelling import normal, normal_uri

SEEN = Seen(1, 2)
NAMES = [
    DatasetId("a", "x"),
    DatasetId("b", "x"),
    DatasetId("s3://l", "t"),
    DatasetId("s3a://l", "t/"),
    DatasetId("c", "x"),
]
INCOMPLETE = DatasetId("", "ice.s.t")
IN_MEMORY = DatasetId("kafka://k:9092", "default_catalog.default_database.orders")
LOOSE = [INCOMPLETE, IN_MEMORY]
Step = Callable[[Identities], None]


def aliased(name: DatasetId, alias: DatasetId) -> Step:
    return lambda identities: identities.add_alias(Alias(name, alias, "symlinks", SEEN))


def entered(name: DatasetId, uri: str, catalog: str = "ice") -> Step:
    entry = CatalogEntry(name, Catalog("hadoop", catalog, "", uri), "s.t", SEEN)
    return lambda identities: identities.add_catalog_entry(entry)


def noted(name: DatasetId) -> Step:
    return lambda identities: identities.note(name)


def identities_of(steps: Iterable[Step], split: Iterable[tuple[DatasetId, DatasetId]] = ()) -> Identities:
    identities = Identities()
    for step in steps:
        step(identities)
    identities.keep_apart(split)
    return identities


def classes(identities: Identities) -> set[frozenset[DatasetId]]:
    return {frozenset(identities.members(name)) for name in (*NAMES, *LOOSE)}


_names = st.sampled_from([*NAMES, *LOOSE])
_steps = st.lists(
    st.builds(aliased, _names, _names)
    | st.builds(entered, st.sampled_from(NAMES), st.sampled_from(["", "s3://l", "s3://m"]))
    | st.builds(noted, _names),
    max_size=8,
)
_split = st.lists(st.tuples(_names, _names).filter(lambda pair: pair[0] != pair[1]), max_size=3)


@given(_steps, _split, st.randoms(use_true_random=False))
def test_names_are_joined_the_same_in_any_order_of_evidence(
    steps: list[Step], split: list[tuple[DatasetId, DatasetId]], generator: random.Random
) -> None:
    shuffled = steps + [step for step in steps if generator.random() < 0.3]
    generator.shuffle(shuffled)
    read_in_between = identities_of(steps[:1], split)
    for step in steps:
        classes(read_in_between)
        step(read_in_between)

    straight, other = identities_of(steps, split), identities_of(shuffled, split)

    assert classes(straight) == classes(other) == classes(read_in_between)
    assert [straight.links(name) for name in NAMES] == [other.links(name) for name in NAMES]


def test_names_of_one_table_in_many_catalogs_have_their_evidence_sorted_by_time() -> None:
    first, other, *_ = NAMES
    times = [Seen(number, 20 - number) for number in range(9)]
    entries = [
        CatalogEntry(name, Catalog("hadoop", "ice", "", f"s3://{seen.first_us}"), "s.t", seen)
        for seen in times
        for name in (first, other)
    ]

    identities = Identities()
    for entry in entries:
        identities.add_catalog_entry(entry)

    assert [link.seen for link in identities.links(first)] == times


@pytest.mark.parametrize("steps", [*permutations([aliased(NAMES[0], INCOMPLETE), aliased(NAMES[0], IN_MEMORY)])])
def test_a_dataset_that_claims_two_split_incomplete_names_has_the_first(steps: Iterable[Step]) -> None:
    identities = identities_of(steps, [(IN_MEMORY, INCOMPLETE)])

    assert {*identities.members(NAMES[0])} == {NAMES[0], INCOMPLETE}
    assert {*identities.members(IN_MEMORY)} == {IN_MEMORY}


@given(_steps, _split)
def test_split_names_are_never_one_and_every_joined_pair_has_a_path_of_evidence(
    steps: list[Step], split: list[tuple[DatasetId, DatasetId]]
) -> None:
    identities = identities_of(steps, split)

    for first, other in split:
        assert other not in identities.members(first)
    for name in NAMES:
        members = set(identities.members(name))
        for member in members if name in members else ():
            path = identities.path(name, member)
            assert path is not None
            assert all({link.name, link.other} <= set(identities.members(name)) for link in path)


def test_the_path_of_evidence_is_the_shortest() -> None:
    a, b, c = DatasetId("n", "a"), DatasetId("n", "b"), DatasetId("n", "c")
    identities = identities_of([aliased(a, b), aliased(b, c)])

    path = identities.path(a, c)

    assert path is not None
    assert [(link.name, link.other, link.reason) for link in path] == [(a, b, "symlinks"), (b, c, "symlinks")]
    assert identities.path(a, DatasetId("n", "d")) is None


def test_splitting_the_ends_of_a_chain_cuts_its_last_link() -> None:
    a, b, c = DatasetId("n", "a"), DatasetId("n", "b"), DatasetId("n", "c")
    identities = identities_of([aliased(a, b), aliased(b, c)], [(a, c)])

    assert set(identities.members(a)) == {a, b}
    assert set(identities.members(c)) == {c}


def test_a_split_can_be_undone() -> None:
    a, b = DatasetId("n", "a"), DatasetId("n", "b")
    identities = identities_of([aliased(a, b)], [(a, b)])

    identities.keep_apart([])

    assert set(identities.members(a)) == {a, b}


def test_an_incomplete_name_belongs_to_the_one_dataset_that_claims_it() -> None:
    table = DatasetId("file", "/wh/s/t")
    identities = identities_of([noted(INCOMPLETE), entered(table, "file:/wh")])

    mended = placed(INCOMPLETE, identities)

    assert set(identities.members(table)) == {table, INCOMPLETE}
    assert mended is not None
    assert (mended.rule, mended.what) == (
        "namespace-found",
        "ice.s.t, reported without a namespace, is /wh/s/t in file",
    )
    assert mended.evidence == ("catalog name: ice.s.t, /wh/s/t in file",)


def test_an_incomplete_name_that_two_datasets_claim_belongs_to_none_until_one_is_split_off() -> None:
    first, other = DatasetId("file", "/wh/s/t"), DatasetId("s3://wh", "s/t")
    identities = identities_of([entered(first, "file:/wh"), entered(other, "s3://wh"), noted(INCOMPLETE)])

    assert set(identities.members(INCOMPLETE)) == {INCOMPLETE}
    assert identities.claimants(INCOMPLETE) == [first, other]
    assert placed(INCOMPLETE, identities) is None

    identities.keep_apart([(INCOMPLETE, other)])
    assert set(identities.members(INCOMPLETE)) == {INCOMPLETE, first}


def test_an_incomplete_name_does_not_join_the_names_that_were_split_from_its_dataset() -> None:
    table, other = NAMES[:2]

    identities = identities_of([aliased(table, other), aliased(table, INCOMPLETE)], [(table, other)])

    assert classes(identities) >= {frozenset({table, INCOMPLETE}), frozenset({other})}


def test_a_rename_that_failed_claims_no_table_in_flinks_memory() -> None:
    table, other = NAMES[:2]
    identities = identities_of([aliased(other, IN_MEMORY)])
    identities.add_alias(Alias(table, IN_MEMORY, "rename", SEEN))
    assert set(identities.members(IN_MEMORY)) == {IN_MEMORY}

    identities.fail_rename(IN_MEMORY, table, has_failed=True)

    assert set(identities.members(IN_MEMORY)) == {IN_MEMORY, other}
    assert identities.claimants(IN_MEMORY) == [other]


def test_claimants_that_are_one_dataset_are_unambiguous() -> None:
    first, other = DatasetId("file", "/wh/s/t"), DatasetId("s3://wh", "s/t")
    steps = [entered(first, "file:/wh"), entered(other, "s3://wh"), noted(INCOMPLETE), aliased(first, other)]

    assert set(identities_of(steps).members(INCOMPLETE)) == {INCOMPLETE, first, other}


def test_a_table_in_flinks_memory_is_the_only_topic_with_that_name() -> None:
    first = DatasetId("kafka://k:9092", "orders-eu")

    assert set(identities_of([aliased(first, IN_MEMORY)]).members(IN_MEMORY)) == {first, IN_MEMORY}


@pytest.mark.parametrize(
    "steps", [*permutations([aliased(NAMES[0], IN_MEMORY), entered(IN_MEMORY, "s3://l"), noted(INCOMPLETE)])]
)
def test_a_table_in_flinks_memory_is_not_a_table_of_a_catalog(steps: Iterable[Step]) -> None:
    located = entered(NAMES[1], "s3://l", "lake")

    identities = identities_of([*steps, located])

    assert {*identities.members(NAMES[0])} == {*identities.members(IN_MEMORY)} == {NAMES[0], IN_MEMORY}
    assert {*identities.members(NAMES[1])} == {NAMES[1]}
    assert {*identities.members(INCOMPLETE)} == {INCOMPLETE}
    assert identities.would_join(CatalogEntry(IN_MEMORY, Catalog("hadoop", "x", "", "s3://l"), "s.t", SEEN)) == set()


def test_topics_with_the_same_name_in_flinks_memory_are_not_one() -> None:
    first, other = DatasetId("kafka://k:9092", "orders-eu"), DatasetId("kafka://k:9092", "orders-us")

    identities = identities_of([aliased(first, IN_MEMORY), aliased(other, IN_MEMORY)])

    assert [set(identities.members(name)) for name in (first, other, IN_MEMORY)] == [{first}, {other}, {IN_MEMORY}]
    assert identities.claimants(IN_MEMORY) == [first, other]


def test_symlinks_of_an_incomplete_name_do_not_join_their_targets() -> None:
    first, other = DatasetId("kafka://a", "orders"), DatasetId("kafka://b", "orders")
    identities = identities_of([aliased(INCOMPLETE, first), aliased(INCOMPLETE, other)])

    assert set(identities.members(first)) == {first}


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("thrift://MS:9083", "thrift://ms:9083/"),
        ("http://Rest.example.org:8181/catalog", "http://rest.example.org:8181/catalog/"),
        ("postgresql://DB:5432/catalog", "postgres://db/catalog"),
        ("abfss://c@A.dfs.core.windows.net/wh/", "abfs://c@a.dfs.core.windows.net/wh"),
        ("hdfs://NN:8020/wh", "hdfs://nn/wh/"),
        ("dbfs:/wh", "dbfs:///wh/"),
        ("dbfs:/", "dbfs:///"),
        ("file:///wh/", "file:/wh"),
    ],
)
def test_equivalent_addresses_of_a_catalog_are_one(first: str, other: str) -> None:
    assert normal_uri(first) == normal_uri(other)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("thrift://ms:9083", "thrift://ms:9084"),
        ("http://rest:8181/A", "http://rest:8181/a"),
        ("dbfs://work/wh", "dbfs:/work/wh"),
        ("s3://lake/WH", "s3://lake/wh"),
    ],
)
def test_similar_addresses_of_different_catalogs_are_not_one(first: str, other: str) -> None:
    assert normal_uri(first) != normal_uri(other)


@pytest.mark.parametrize(
    ("warehouse", "namespace"),
    [("file:///wh", "file"), ("dbfs:/wh", "dbfs"), ("s3a://lake/wh", "s3://lake"), ("hdfs://NN:8020/wh", "hdfs://nn")],
)
def test_a_catalogs_namespace_is_that_of_its_warehouse(warehouse: str, namespace: str) -> None:
    assert place_of(Catalog("hadoop", "ice", "", warehouse)) == namespace


def test_one_table_of_one_catalog_is_one_dataset_if_the_catalog_has_an_address() -> None:
    first, other = DatasetId("s3://wh", "s.db/t"), DatasetId("s3://wh", "s/t")
    addressed = identities_of([entered(first, "s3://wh", "glue"), entered(other, "s3://wh", "lake")])
    nameless = identities_of([entered(first, ""), entered(other, "")])

    assert set(addressed.members(first)) == {first, other}
    assert [each.rule for each in mended_names(first, addressed)] == ["one-table-two-names"]
    assert set(nameless.members(first)) == {first}


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (("s3a://b", "k"), ("s3://b", "k")),
        (("s3n://b/", "k/"), ("S3://b", "k")),
        (("postgresql://h:5432", "d.s.t"), ("postgres://h", "d.s.t")),
        (("mysql://h:3306", "d.t"), ("mysql://h", "d.t")),
        (("sqlserver://h", "d.s.t"), ("mssql://h:1433", "d.s.t")),
        (("sqlserver://h/inst", "d.s.t"), ("mssql://h/inst", "d.s.t")),
        (("file:///", "/a/b/"), ("file", "/a/b")),
        (("hdfs://nn:8020", "/a/"), ("hdfs://nn:8020", "/a")),
        (("hdfs://nn:8020", "/a"), ("hdfs://NN", "/a")),
        (("s3://b", "/k/l"), ("s3a://b", "k/l")),
        (("gs://b", "/k"), ("gcs://b", "k")),
        (("abfss://c@a.dfs.core.windows.net", "/t"), ("abfs://c@a.dfs.core.windows.net", "t")),
        (("dbfs", "/mnt/a/"), ("dbfs:/", "/mnt/a")),
        (("postgres://h:None", "d.s.t"), ("postgres://h:5432", "d.s.t")),
        (("postgres://ann:s3cret@h:5432", "d.s.t"), ("postgres://h", "d.s.t")),
        (("mysql://DB.example.org", "d.t"), ("mysql://db.example.org:3306", "d.t")),
        (("kafka://Broker:9092", "t"), ("kafka://broker:9092", "t")),
        (("trino://H:8080", "lake.sales.o"), ("trino://h:8080", "lake.sales.o")),
        (("abfss://c@A.dfs.core.windows.net", "t"), ("abfs://c@a.dfs.core.windows.net", "t")),
        (("wasbs://c@A.blob.core.windows.net", "/t"), ("wasb://c@a.blob.core.windows.net", "t")),
        (("db2://H:50000", "d.s.t"), ("db2://h:50000", "d.s.t")),
        (("file://NAS/", "/a/b/"), ("file://nas", "/a/b")),
        (("snowflake://ORG-ACC.snowflakecomputing.com:443", "D.S.T"), ("snowflake://org-acc", "D.S.T")),
        (("aws:glue:us-east-1:123456789012", "db.t"), ("arn:aws:glue:us-east-1:123456789012", "table/db/t")),
    ],
)
def test_equivalent_spellings_are_one(first: tuple[str, str], other: tuple[str, str]) -> None:
    assert normal(DatasetId(*first)) == normal(DatasetId(*other))


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (("postgres://h:5433", "d.s.t"), ("postgres://h", "d.s.t")),
        (("kafka://h:9092", "t"), ("kafka://h", "t")),
        (("s3://b", "k"), ("gs://b", "k")),
        (("trino://h:8080", "lake.sales.o"), ("s3://warehouse", "sales.db/o")),
        (("s3://b", "k"), ("s3://b", "K")),
        (("kafka://h", "t/"), ("kafka://h", "t")),
        (("s3://b", "//k"), ("s3://b", "k")),
        (("file", "/a"), ("file", "a")),
        (("s3://B", "k"), ("s3://b", "k")),
        (("abfss://one@a.dfs.core.windows.net", "t"), ("abfss://two@a.dfs.core.windows.net", "t")),
        (("abfss://C@a.dfs.core.windows.net", "t"), ("abfss://c@a.dfs.core.windows.net", "t")),
        (("abfss://c@a.dfs.core.windows.net", "T"), ("abfss://c@a.dfs.core.windows.net", "t")),
        (("trino://h:8080", "Lake.sales.o"), ("trino://h:8080", "lake.sales.o")),
        (("mysql://h", "d.T"), ("mysql://h", "d.t")),
        (("kafka://h:None", "t"), ("kafka://h", "t")),
        (("app://Team", "t"), ("app://team", "t")),
        (("arn:aws:glue:us-east-1:1", "table/a.b/c"), ("arn:aws:glue:us-east-1:1", "table/a/b.c")),
        (("arn:aws:glue:us-east-1:1", "table/a/b"), ("arn:aws:glue:us-east-2:1", "table/a/b")),
    ],
)
def test_similar_names_are_not_one(first: tuple[str, str], other: tuple[str, str]) -> None:
    assert normal(DatasetId(*first)) != normal(DatasetId(*other))


def test_a_name_that_is_no_longer_used_is_forgotten_and_its_spellings_stay_one() -> None:
    used, former, third = DatasetId("s3://l", "t"), DatasetId("s3a://l", "t"), DatasetId("s3n://l", "t")
    identities = identities_of([noted(former), noted(used), noted(third)])

    identities.forget(former)

    assert set(identities.members(used)) == set(identities.members(former)) == {used, third}
    identities.note(former)
    assert set(identities.members(used)) == {used, former, third}


@pytest.mark.parametrize("name", [DatasetId("s3a://l", "t/"), IN_MEMORY])
def test_a_forgotten_name_is_unknown_unless_evidence_mentions_it(name: DatasetId) -> None:
    identities = identities_of([noted(name)])

    identities.forget(name)

    assert not identities.knows(name)
    assert [*identities.members(name)] == [name]
    assert [*identities.spellings_of(name)] == [*identities.loose] == []
    identities.note_for_good(name)
    identities.forget(name)
    assert identities.knows(name)
    assert [*identities.members(name)] == [name]


TRINO = "trino://127.0.0.1:8080"
IN_TRINO = DatasetId(TRINO, "lake.s.t")
NO_NAMES, NO_CATALOG = DatasetId("", ""), Catalog("", "", "", "")


def configured(uri: str, catalog: str = "lake") -> Step:
    fact = EngineCatalog(TRINO, catalog, Catalog("hadoop", "", "", uri), NO_NAMES, SEEN)
    return lambda identities: identities.add_engine_catalog(fact)


def renamed(catalog: str, namespace: str, prefix: str) -> Step:
    fact = EngineCatalog(TRINO, catalog, NO_CATALOG, DatasetId(namespace, prefix), SEEN)
    return lambda identities: identities.add_engine_catalog(fact)


@pytest.mark.parametrize("is_named_again", [True, False])
def test_a_forgotten_engine_name_is_not_a_name_of_the_table_that_later_matches_it(
    is_named_again: bool,
) -> None:
    in_hive, in_lake = DatasetId("hive", "s.t"), DatasetId("s3://lake", "s/t")
    identities = identities_of([noted(IN_TRINO), renamed("lake", "hive", "")])
    identities.forget(IN_TRINO)

    identities.add_alias(Alias(in_lake, in_hive, "symlinks", SEEN))
    if is_named_again:
        identities.note(IN_TRINO)

    assert set(identities.members(in_hive)) == {in_hive, in_lake, *([IN_TRINO] if is_named_again else [])}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_engines_table_is_the_table_of_its_configured_catalog_in_any_order(order: Iterable[int]) -> None:
    steps = [noted(IN_TRINO), configured("s3a://wh/"), entered(DatasetId("s3://wh", "s/t"), "s3://wh", "spark")]

    identities = identities_of(steps[index] for index in order)

    assert set(identities.members(IN_TRINO)) == {IN_TRINO, DatasetId("s3://wh", "s/t")}
    (link,) = identities.links(IN_TRINO)
    assert link.reason == "configuration"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_name_in_flinks_memory_is_not_an_engines_table_in_any_order(order: Iterable[int]) -> None:
    in_memory, table = DatasetId(IN_TRINO.namespace, "default_catalog.s.t"), DatasetId("s3://wh", "s/t")
    steps = [noted(in_memory), configured("s3://wh", "default_catalog"), entered(table, "s3://wh", "spark")]

    identities = identities_of(steps[at] for at in order)

    assert {*identities.members(in_memory)} == {in_memory}
    assert {*identities.members(table)} == {table}


def test_a_metastore_is_the_same_with_and_without_its_fallback_addresses() -> None:
    first, table = "thrift://m1:9083", DatasetId("s3://wh", "s.db/t")
    engine_catalog = EngineCatalog(TRINO, "lake", Catalog("hive", "", first, ""), NO_NAMES, SEEN)
    entry = CatalogEntry(table, Catalog("hive", "spark", f"{first},thrift://m2:9083", "s3://wh"), "s.t", SEEN)
    identities = Identities()

    identities.note(IN_TRINO)
    identities.add_engine_catalog(engine_catalog)
    identities.add_catalog_entry(entry)

    assert set(identities.members(IN_TRINO)) == {IN_TRINO, table}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_engines_table_is_the_configured_databases_table_in_any_order(order: Iterable[int]) -> None:
    in_engine, stored = DatasetId(TRINO, "pg.public.orders"), DatasetId("postgresql://db:5432", "shop.public.orders")
    steps = [noted(in_engine), renamed("pg", "postgres://db:5432", "shop."), noted(stored)]

    identities = identities_of(steps[index] for index in order)

    assert set(identities.members(stored)) == {in_engine, stored}


def test_another_warehouse_another_catalog_and_another_table_are_other_datasets() -> None:
    physical = DatasetId("s3://wh", "s/t")
    others = [DatasetId(TRINO, "other.s.t"), DatasetId(TRINO, "lake.s.u"), DatasetId("trino://elsewhere", "lake.s.t")]

    identities = identities_of(
        [configured("s3://wh"), configured("s3://wh2", "other"), entered(physical, "s3://wh"), *map(noted, others)]
    )

    assert [set(identities.members(name)) for name in others] == [{name} for name in others]


def test_a_configuration_does_not_join_split_names() -> None:
    physical = DatasetId("s3://wh", "s/t")

    identities = identities_of(
        [noted(IN_TRINO), configured("s3://wh"), entered(physical, "s3://wh")], [(IN_TRINO, physical)]
    )

    assert set(identities.members(IN_TRINO)) == {IN_TRINO}


def test_evidence_would_join_all_names_of_both_datasets_and_none_if_it_is_not_new() -> None:
    x, y, z, w = (DatasetId(namespace, "t") for namespace in "xyzw")
    identities = Identities()
    for step in (aliased(x, y), aliased(z, w)):
        step(identities)

    assert identities.would_join(Alias(x, z, "rename", SEEN)) == {x, y, z, w}
    assert identities.would_join(Alias(DatasetId("new", "t"), y, "symlinks", SEEN)) == {DatasetId("new", "t"), x, y}
    assert identities.would_join(Alias(y, x, "rename", SEEN)) == frozenset()
    identities.keep_apart([(x, z), (x, y)])
    assert identities.would_join(Alias(x, z, "rename", SEEN)) == frozenset()
    assert identities.would_join(Alias(x, y, "symlinks", SEEN)) == frozenset()


def test_what_another_dataset_claims_too_would_join_nothing_when_it_is_reported_again() -> None:
    x, y = NAMES[:2]
    identities = identities_of([aliased(x, INCOMPLETE), aliased(INCOMPLETE, y), noted(NAMES[4])])

    for known in (Alias(x, INCOMPLETE, "symlinks", SEEN), Alias(INCOMPLETE, y, "symlinks", SEEN)):
        assert identities.would_join(known) == frozenset()
    assert identities.would_join(Alias(NAMES[4], INCOMPLETE, "symlinks", SEEN)) == {NAMES[4]}


def test_a_failed_rename_is_not_evidence_so_reporting_it_again_would_join() -> None:
    x, y = DatasetId("x", "t"), DatasetId("y", "t")
    renamed = Alias(x, y, "rename", SEEN)
    identities = Identities()
    identities.add_alias(renamed)
    identities.fail_rename(x, y, has_failed=True)

    assert identities.would_join(renamed) == {x, y}
    identities.fail_rename(x, y, has_failed=False)
    assert identities.would_join(renamed) == frozenset()


def test_a_catalogs_table_would_be_joined_to_its_place_before_it_is_otherwise_named() -> None:
    x, place = DatasetId("x", "t"), DatasetId("s3://lake", "s.t")
    catalog = Catalog("hadoop", "ice", "", "s3a://lake/warehouse")
    identities = Identities()

    assert identities.would_join(CatalogEntry(x, catalog, "s.t", SEEN)) == {x, place}
    entered(x, "s3://lake/warehouse")(identities)
    assert identities.would_join(CatalogEntry(x, catalog, "s.t", SEEN)) == frozenset()
    y = DatasetId("y", "t")
    assert identities.would_join(CatalogEntry(y, catalog, "s.t", SEEN)) == {x, y, place}
    nameless = Catalog("hadoop", "ice", "", "")
    assert identities.would_join(CatalogEntry(y, nameless, "s.t", SEEN)) == frozenset()


def test_an_engines_catalog_joins_the_names_behind_it() -> None:
    physical, linked = DatasetId("s3://lake", "t"), DatasetId("hr", "t")
    no_catalog, names = Catalog("", "", "", ""), DatasetId("s3a://lake", "")
    fact = EngineCatalog("trino://h", "lake", no_catalog, names, SEEN)
    identities = Identities()
    aliased(physical, linked)(identities)

    assert identities.would_join(fact) == {DatasetId("trino://h", "lake"), names, physical, linked}
    identities.add_engine_catalog(fact)
    assert identities.would_join(fact) == frozenset()


def test_an_engines_catalog_joins_the_names_of_its_tables_and_those_that_the_engine_uses_already() -> None:
    catalog, no_names = Catalog("hive", "", "thrift://ms:9083", ""), DatasetId("", "")
    fact = EngineCatalog("trino://h", "lake", catalog, no_names, SEEN)
    table, used, linked = DatasetId("hr", "wh/t"), DatasetId("trino://h", "lake.s.u"), DatasetId("team", "u")
    others = [DatasetId("trino://h", "lakes.s.u"), DatasetId("x", "lake.s.u"), DatasetId("hr", "elsewhere")]
    identities = identities_of([*map(noted, others), aliased(used, linked)])
    identities.add_catalog_entry(CatalogEntry(table, catalog, "s.t", SEEN))
    identities.add_catalog_entry(CatalogEntry(others[2], Catalog("hive", "", "thrift://other:9083", ""), "s.t", SEEN))

    assert identities.would_join(fact) == {
        DatasetId("trino://h", "lake"),
        DatasetId("thrift://ms:9083", "lake"),
        *(table, used, linked),
    }
    identities.add_engine_catalog(fact)
    assert identities.would_join(fact) == frozenset()
