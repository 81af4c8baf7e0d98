package headwater.lab.auction;

/** An even rate of items, up to a limit. */
record Pace(int perSecond, long limit) {
  private static final long NANOS = 1_000_000_000L;

  /**
   * The number of items due now, at most those of one second.
   *
   * @param done the number of items so far, which the limit counts
   * @param doneSince the number of them in `elapsedNanos`
   */
  int due(long done, long doneSince, long elapsedNanos) {
    long overdue = elapsedNanos * perSecond / NANOS - doneSince;
    return (int) Math.max(0, Math.min(Math.min(overdue, limit - done), perSecond));
  }
}
