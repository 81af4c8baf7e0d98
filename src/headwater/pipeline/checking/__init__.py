"""From a pipeline file's text to a spec or a list of problems, in the order of the steps.

document      YAML text → a tree of nodes, each with its mark (line and column)
overrides     applies `--set a.b.c=value` to the tree
variables     expands `${NAME}` from the environment in its scalars
reading       a node → a value of a type; problems are collected, not raised
grammar       the tree → a draft of the pipeline: which kinds there are, `input` or `inputs`, shorthands
frames        resolves names and `from` to frames
constraints   rules across several keys: `merge` needs `on`, a stream never overwrites, …
              constraints_http: of HTTP; constraints_kafka: of Kafka; constraints_s3: of S3
problems      a problem and its position; credentials: values that must not be shown
"""
