"""Counts of verdicts are available at any time, also while the log is read again."""

from headwater.graph.lineage import Graph
from headwater.service.knowledge.verdicts import VerdictKey, Verdicts
from headwater.store.log_reader import VerdictsRead

READ = VerdictsRead(0, 3, [(None, "ok", "key", 2), (None, "unsigned", None, 1)])


def test_counts_remain_until_the_log_is_read_again_and_are_then_replaced() -> None:
    verdicts = Verdicts(Graph(lambda _: {}))
    verdicts.take(READ)
    before = dict(verdicts.counts())

    verdicts.reset()

    assert dict(verdicts.counts()) == before == {VerdictKey("", "ok", "key"): 2, VerdictKey("", "unsigned", None): 1}
    assert verdicts.take(READ)
    assert dict(verdicts.counts()) == before
