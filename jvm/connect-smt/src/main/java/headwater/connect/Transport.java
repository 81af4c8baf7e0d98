package headwater.connect;

/** Delivers events to one target. Not thread-safe. */
interface Transport {
  /** The result of a delivery. */
  enum Outcome {
    /** The target stored the event. */
    ACKNOWLEDGED,
    /** The target refuses this event permanently; later ones may be accepted. */
    REFUSED,
    /** The target accepts no events now; retry later. */
    UNAVAILABLE
  }

  /** An outcome, and the reason in a few words; empty on success. */
  record Delivery(Outcome outcome, String why) {
    static final Delivery DONE = new Delivery(Outcome.ACKNOWLEDGED, "");
  }

  /** Delivers an event. Network faults are outcomes, not exceptions; it takes seconds at most. */
  Delivery send(String connector, byte[] event) throws InterruptedException;

  /** Closes the connections; a later `send` opens them again. */
  void close();
}
