"""Things in order, and copies of them."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.service.tallies.ordered import Ordered

changes = st.lists(st.tuples(st.booleans(), st.integers(0, 90)), max_size=120)


@given(changes, changes, changes, st.booleans())
def test_a_copy_and_what_it_was_made_of_change_in_thread(
    before: list[tuple[bool, int]], mine: list[tuple[bool, int]], theirs: list[tuple[bool, int]], is_read: bool
) -> None:
    things: Ordered[int] = Ordered()
    known = _changed(things, before, set())
    if is_read:
        things.items()

    same = things.copy()
    mine_then, theirs_then = _changed(things, mine, known), _changed(same, theirs, known)

    assert [*same.items()] == sorted(theirs_then)
    assert [*things.items()] == sorted(mine_then)
    assert [*same.copy().items()] == sorted(theirs_then)


def _changed(things: Ordered[int], changes: list[tuple[bool, int]], known: set[int]) -> set[int]:
    """The things are changed so; gives what is in them then."""
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
def test_many_things_that_come_and_go_between_others_are_put_in_their_places(
    known: set[int], gone: set[int], begin: int, come: int
) -> None:
    things: Ordered[int] = Ordered()
    known |= {*range(0, 1000, 3)}
    _changed(things, [(True, thing) for thing in known], set())
    same = things.copy()

    changes = [(False, thing) for thing in gone] + [(True, thing) for thing in range(begin, begin + come)]
    now = _changed(things, changes, known)

    assert [*things.items()] == sorted(now)
    assert [*same.items()] == sorted(known)
