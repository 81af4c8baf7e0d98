"""Merge facts: one merged fact per key, the same for any order, repetition or batching."""

from collections.abc import Iterable

from headwater.model.facts import Fact

FactKey = tuple[object, ...]


def fold(facts: Iterable[Fact]) -> dict[FactKey, Fact]:
    """Merge the facts by key."""
    merged: dict[FactKey, Fact] = {}
    for fact in facts:
        key = fact.key
        known = merged.setdefault(key, fact)
        if known is not fact:  # facts with the same key have the same type
            merged[key] = known.merge(fact)  # type: ignore[arg-type]
    return merged
