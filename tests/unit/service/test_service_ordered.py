"""Ordered items, and copies of them."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.service.tallies.ordered import Ordered

changes = st.lists(st.tuples(st.booleans(), st.integers(0, 90)), max_size=120)


@given(changes, changes, changes, st.booleans())
def test_a_copy_and_its_original_change_independently(
    before: list[tuple[bool, int]],
    own_changes: list[tuple[bool, int]],
    copy_changes: list[tuple[bool, int]],
    is_read: bool,
) -> None:
    things: Ordered[int] = Ordered()
    known = _changed(things, before, set())
    if is_read:
        things.items()

    copy = things.copy()
    own_items, copy_items = _changed(things, own_changes, known), _changed(copy, copy_changes, known)

    assert [*copy.items()] == sorted(copy_items)
    assert [*things.items()] == sorted(own_items)
    assert [*copy.copy().items()] == sorted(copy_items)


def _changed(things: Ordered[int], changes: list[tuple[bool, int]], known: set[int]) -> set[int]:
    """Apply the changes; returns the resulting items."""
    known = {*known}
    for is_in, thing in changes:
        if is_in:
            things.add(thing)
            known.add(thing)
        else:
            things.remove(thing)
            known.discard(thing)
    return known


@given(st.sets(st.integers(0, 999)), st.sets(st.integers(0, 999)), st.integers(0, 900), st.integers(0, 200))
def test_many_items_added_and_removed_between_others_are_in_order(
    known: set[int], removed: set[int], begin: int, added: int
) -> None:
    things: Ordered[int] = Ordered()
    known |= {*range(0, 1000, 3)}
    _changed(things, [(True, thing) for thing in known], set())
    copy = things.copy()

    changes = [(False, thing) for thing in removed] + [(True, thing) for thing in range(begin, begin + added)]
    now = _changed(things, changes, known)

    assert [*things.items()] == sorted(now)
    assert [*copy.items()] == sorted(known)
