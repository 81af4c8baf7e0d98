package headwater.lab.auction;

/** How many of something are due, at an even rate and no more than a limit. */
record Pace(int perSecond, long limit) {
  private static final long NANOS = 1_000_000_000L;

  /**
   * How many are due now.
   *
   * @param made how many there are already, of those that the limit counts
   * @param madeSince how many of them were made in `elapsedNanos`
   */
  int due(long made, long madeSince, long elapsedNanos) {
    long inTime = elapsedNanos * perSecond / NANOS - madeSince;
    return (int) Math.max(0, Math.min(Math.min(inTime, limit - made), perSecond));
  }
}
