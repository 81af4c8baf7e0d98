"""Commands that change a table itself, and no rows: CREATE TABLE without AS, ALTER, RENAME, TRUNCATE, DROP.

Each is a run with the table as its output; once it succeeded, with the facet `lifecycleStateChange`. Commands with IF
EXISTS or IF NOT EXISTS are not reported, since it is unknown whether they did anything.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from openlineage.client.facet_v2 import lifecycle_state_change_dataset as facet

from headwater.capture.spark.reading import catalog_of, catalog_table, struct_of, table_name, v2_table, warehouse_name
from headwater.capture.spark.writing import Write
from headwater.model.names import DatasetId
from headwater.observe.described import Described, table_of
from headwater.observe.spark.iceberg import called, iceberg_dataset
from headwater.observe.spark.jvm import Java
from headwater.observe.spark.relations import items
from headwater.observe.spark.schema import schema_facet

Change = Literal["ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"]


def change_of(plan: Java, session: Java, *, is_done: bool) -> Write | None:
    """The table that a command changes; None if it is not such a command, or its table is unknown.

    `is_done`: the command has succeeded. Otherwise the table is described as it was before.
    """
    rule = _RULES.get(plan.productPrefix())
    write = None if rule is None else rule(plan, session)
    if write is None or write.dataset is None or is_done:
        return write
    if rule is _renamed:
        write.dataset = _renamed_dataset(plan, session, _label(plan.child()))
    elif rule is _renamed_in_spark:
        write.dataset = _spark_table(plan.oldName(), session)
    write.dataset.facets.pop("lifecycleStateChange", None)
    return write


def _created(plan: Java, session: Java) -> Write | None:
    return None if plan.ignoreIfExists() else _loaded("CREATE", plan.name(), plan, session)


def _replaced(plan: Java, session: Java) -> Write | None:
    return _loaded("OVERWRITE", plan.name(), plan, session)


def _altered(plan: Java, session: Java) -> Write | None:
    return _loaded("ALTER", plan.table(), plan, session)


def _loaded(change: Change, target: Java, plan: Java, session: Java) -> Write | None:
    """A table as in its catalog after the command."""
    catalog, identifier = target.catalog(), target.identifier()
    if not catalog.tableExists(identifier):
        return None
    table = catalog.loadTable(identifier)
    dataset = v2_table(table, session)
    if dataset is not None:
        dataset.facets["schema"] = schema_facet(struct_of(table.schema()))
    return _change_write(change, _label(target), plan, dataset)


def _truncated(plan: Java, session: Java) -> Write | None:
    return _change_write("TRUNCATE", _label(plan.table()), plan, v2_table(plan.table().table(), session))


def _renamed(plan: Java, session: Java) -> Write | None:
    """A renamed table: same location, new name in its catalog."""
    old, table = plan.child(), plan.child().table()
    if table.getClass().getSimpleName() != "SparkTable":
        return None
    catalog = catalog_of(old.catalog().name(), session)
    parts = list(items(plan.newName()))
    schema = parts[:-1] or list(old.identifier().namespace())
    new = ".".join([old.catalog().name(), *map(str, schema), str(parts[-1])])
    dataset = _renamed_dataset(plan, session, new)
    before = [] if catalog is None else called(_label(old), catalog)
    return _change_write("RENAME", new, plan, dataset, before[0] if before else None)


def _renamed_dataset(plan: Java, session: Java, name: str) -> Described:
    """The table to be renamed, at its location, under the given name in its catalog."""
    old, table = plan.child(), plan.child().table()
    dataset = iceberg_dataset(table.table().location(), None, name, catalog_of(old.catalog().name(), session))
    dataset.facets["schema"] = schema_facet(struct_of(table.schema()))
    return dataset


def _dropped(plan: Java, session: Java) -> Write | None:
    """A dropped table; its location is gone too, so its dataset is named by the catalog."""
    if plan.ifExists():
        return None
    target = plan.child()
    if target.catalog().name() == "spark_catalog":
        name = f"{'.'.join(target.identifier().namespace())}.{target.identifier().name()}"
        return _change_write("DROP", name, plan, table_of(warehouse_name(session, name)))
    catalog = catalog_of(target.catalog().name(), session)
    names = [] if catalog is None else called(_label(target), catalog)
    return _change_write("DROP", _label(target), plan, table_of(names[0])) if names else None


def _created_in_spark(plan: Java, session: Java) -> Write | None:
    return None if plan.ignoreIfExists() else _in_spark("CREATE", plan.table().identifier(), plan, session)


def _created_like_in_spark(plan: Java, session: Java) -> Write | None:
    return None if plan.ifNotExists() else _in_spark("CREATE", plan.targetTable(), plan, session)


def _renamed_in_spark(plan: Java, session: Java) -> Write | None:
    """A renamed managed table also moves; a new name without a schema is in the old schema."""
    old, new = plan.oldName(), plan.newName()
    if plan.isView():
        return None
    if not new.database().isDefined():
        new = new.copy(new.table(), old.database(), old.catalog())
    return _in_spark("RENAME", new, plan, session, warehouse_name(session, table_name(old)))


def _altered_in_spark(plan: Java, session: Java) -> Write | None:
    return _in_spark("ALTER", plan.table(), plan, session)


def _truncated_in_spark(plan: Java, session: Java) -> Write | None:
    return _in_spark("TRUNCATE", plan.tableName(), plan, session)


def _in_spark(
    change: Change, identifier: Java, plan: Java, session: Java, before: DatasetId | None = None
) -> Write | None:
    """A changed table of Spark's own catalog."""
    if not session.sessionState().catalog().tableExists(identifier):
        return None
    return _change_write(change, table_name(identifier), plan, _spark_table(identifier, session), before)


def _spark_table(identifier: Java, session: Java) -> Described:
    metadata = session.sessionState().catalog().getTableMetadata(identifier)
    dataset = catalog_table(metadata, session)
    dataset.facets["schema"] = schema_facet(struct_of(metadata.schema()))
    return dataset


def _change_write(
    change: Change, label: str, plan: Java, dataset: Described | None, before: DatasetId | None = None
) -> Write | None:
    if dataset is None:
        return None
    former = None if before is None else facet.PreviousIdentifier(before.name, before.namespace)
    state = facet.LifecycleStateChange(change)
    dataset.facets["lifecycleStateChange"] = facet.LifecycleStateChangeDatasetFacet(state, former)
    return Write(f"{change.lower()}.{label}", plan, dataset)


def _label(target: Java) -> str:
    identifier = target.identifier()
    return ".".join([target.catalog().name(), *identifier.namespace(), identifier.name()])


_RULES: Final[Mapping[str, Callable[[Java, Java], Write | None]]] = {
    **dict.fromkeys(("AddColumns", "AlterColumns", "DropColumns", "RenameColumn", "ReplaceColumns"), _altered),
    "CreateTable": _created,
    "ReplaceTable": _replaced,
    "AlterTableAddColumnsCommand": _altered_in_spark,
    "AlterTableRenameCommand": _renamed_in_spark,
    "CreateDataSourceTableCommand": _created_in_spark,
    "CreateTableLikeCommand": _created_like_in_spark,
    "DropTable": _dropped,
    "RenameTable": _renamed,
    "TruncateTable": _truncated,
    "TruncateTableCommand": _truncated_in_spark,
}
