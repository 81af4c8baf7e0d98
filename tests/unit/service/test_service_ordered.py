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
    ordered: Ordered[int] = Ordered()
    content = _changed(ordered, before, set())
    if is_read:
        ordered.items()

    copy = ordered.copy()
    own_items, copy_items = _changed(ordered, own_changes, content), _changed(copy, copy_changes, content)

    assert [*copy.items()] == sorted(copy_items)
    assert [*ordered.items()] == sorted(own_items)
    assert [*copy.copy().items()] == sorted(copy_items)


def _changed(ordered: Ordered[int], changes: list[tuple[bool, int]], content: set[int]) -> set[int]:
    """Apply the changes; returns the resulting items."""
    content = {*content}
    for is_in, item in changes:
        if is_in:
            ordered.add(item)
            content.add(item)
        else:
            ordered.remove(item)
            content.discard(item)
    return content


@given(st.sets(st.integers(0, 999)), st.sets(st.integers(0, 999)), st.integers(0, 900), st.integers(0, 200))
def test_many_items_added_and_removed_between_others_are_in_order(
    content: set[int], removed: set[int], begin: int, added: int
) -> None:
    ordered: Ordered[int] = Ordered()
    content |= {*range(0, 1000, 3)}
    _changed(ordered, [(True, item) for item in content], set())
    copy = ordered.copy()

    changes = [(False, item) for item in removed] + [(True, item) for item in range(begin, begin + added)]
    now = _changed(ordered, changes, content)

    assert [*ordered.items()] == sorted(now)
    assert [*copy.items()] == sorted(content)
