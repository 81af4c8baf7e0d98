"""Pipelines: declared in YAML, run by Spark through PySpark, told as OpenLineage events."""
