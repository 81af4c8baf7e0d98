"""What `headwater lint` asks of a pipeline file that checks. A module a concern, a pure function a rule.

rule        what a rule is, and what it is given
ancestry    which frames a frame is made of
document    HW001-HW005: the file says what it is
frames      HW101-HW103: inputs and processors
queries     HW201-HW206: SQL; stars: whether the columns behind a `*` are known
outputs     HW301-HW307: what a rerun or a reader would meet
operation   HW401-HW402: lineage and streams
safety      HW501-HW502: secrets, other machines
registry    all of them, in order
"""
