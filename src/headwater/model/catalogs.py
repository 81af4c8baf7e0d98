"""Kinds of catalogs. A module of its own, since readers of events need it without the naming rules."""


def catalog_kind(told: str) -> str:
    """A kind by its short name, whichever way it is told: engines also tell the class that implements it.

    >>> catalog_kind("org.apache.iceberg.aws.glue.GlueCatalog"), catalog_kind("glue")
    ('glue', 'glue')
    """
    return told.rpartition(".")[2].removesuffix("Catalog").lower()
