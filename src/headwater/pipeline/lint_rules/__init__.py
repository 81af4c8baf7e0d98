"""The rules of `headwater lint` for valid pipeline files: a module per concern, a pure function per rule.

rule        the types of rules, and their input
ancestry    the frames that a frame derives from
document    HW001-HW005: version, owner, description
frames      HW101-HW103: inputs and processors
queries     HW201-HW206: SQL; stars: whether the columns behind a `*` are known
outputs     HW301-HW307: effects of a rerun, and on readers
operation   HW401-HW402: lineage and streams
safety      HW501-HW502: secrets, other machines
registry    all rules, in order
"""
