"""Steps of a pipeline, each a function from data frame to data frame: `apply` picks the module of a step's kind.

apply       a step of any kind; `filter` is in it
columns     `mapping`: columns by expression
dedupe      `dedupe`: one row per key
metadata    `metadata`: the run that made a row, in the row
python      `python`: a function of the user's
signature   `signature`: each record signed with the node's key
"""
