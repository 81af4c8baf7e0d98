"""From a pipeline file's text to a spec or a list of problems, in the order a file passes.

document      YAML text → a tree of nodes, each with its mark (line and column)
overrides     `--set a.b.c=value` onto the tree
variables     `${NAME}` from the environment into its scalars
reading       a node → a value of a type; every problem collected, none raised
grammar       the tree → a draft of the pipeline: which kinds there are, `input` or `inputs`, shorthands
frames        who reads whose rows
constraints   what one field alone cannot say: `merge` needs `on`, a stream never overwrites, …
              constraints_http: of HTTP; constraints_kafka: of Kafka; constraints_s3: of S3
problems      what is wrong, where; credentials: what must not be shown
"""
