"""What observers of a run share, whether it is a pipeline's, any Spark program's or any Python program's.

lifecycle    the order of a run's events, and their times
guard        the one place where lineage may fail
failure      why a run failed, without a single value of the data
counters     what a run has moved; `run_facets` writes it
described    a dataset and what is known of it
spark        what a Spark driver can be asked over py4j
"""
