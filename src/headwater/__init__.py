"""Headwater: data lineage you can prove, from the source."""
