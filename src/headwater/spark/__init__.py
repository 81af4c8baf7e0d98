"""Lineage of any PySpark program: one line in it, `headwater.spark.capture(spark)`, or none.

capturing   `capture`
program     `headwater-spark program.py`: captures an unchanged program
__main__    the same as `python -m headwater.spark program.py`
"""

from headwater.spark.capturing import capture

__all__ = ["capture"]
