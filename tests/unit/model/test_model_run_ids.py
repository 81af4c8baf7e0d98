import uuid

from headwater.model.run_ids import RANDOM_BITS, run_id


def test_a_run_id_is_a_uuid_of_version_7_as_in_the_rfcs_example() -> None:
    # RFC 9562, appendix A.6
    assert run_id(0x017F22E279B0, 0xCC3 << 62 | 0x18C4DC0C0C07398F) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


def test_all_random_bits_are_in_the_id_in_addition_to_version_and_variant() -> None:
    first, last = uuid.UUID(run_id(1, 0)), uuid.UUID(run_id(1, (1 << RANDOM_BITS) - 1))

    assert (first.version, last.version) == (7, 7)
    assert (first.variant, last.variant) == (uuid.RFC_4122, uuid.RFC_4122)
    assert (first.int ^ last.int).bit_count() == RANDOM_BITS


def test_a_run_that_started_later_sorts_later() -> None:
    assert run_id(1, (1 << RANDOM_BITS) - 1) < run_id(2, 0)
