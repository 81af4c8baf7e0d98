"""Kinds of catalogs. On its own, since whoever reads events needs it too, and none of what names datasets."""


def catalog_kind(told: str) -> str:
    """A kind by its short name, whichever way it is told: engines also tell the class that implements it.

    >>> catalog_kind("org.apache.iceberg.aws.glue.GlueCatalog"), catalog_kind("glue")
    ('glue', 'glue')
    """
    return told.rpartition(".")[2].removesuffix("Catalog").lower()
