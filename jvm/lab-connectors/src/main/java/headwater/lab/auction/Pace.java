package headwater.lab.auction;

/** An even rate of items, up to a limit. */
record Pace(int perSecond, long limit) {
  private static final long NANOS = 1_000_000_000L;

  /**
   * The number of items due now, at most those of one second.
   *
   * @param made the number of items so far, which the limit counts
   * @param madeSince the number of them in `elapsedNanos`
   */
  int due(long made, long madeSince, long elapsedNanos) {
    long inTime = elapsedNanos * perSecond / NANOS - madeSince;
    return (int) Math.max(0, Math.min(Math.min(inTime, limit - made), perSecond));
  }
}
