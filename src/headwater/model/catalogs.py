"""Kinds of catalogs. A module of its own, since readers of events need it without the naming rules."""


def catalog_kind(reported: str) -> str:
    """The short name of a kind of catalog; some engines report the implementing class instead.

    >>> catalog_kind("org.apache.iceberg.aws.glue.GlueCatalog"), catalog_kind("glue")
    ('glue', 'glue')
    """
    return reported.rpartition(".")[2].removesuffix("Catalog").lower()
