package headwater.connect;

/** Carries events to one target, for one thread at a time. */
interface Transport {
  /** How a delivery ended. */
  enum Outcome {
    /** The target has the event. */
    ACKNOWLEDGED,
    /** The target will never take this event; those behind it may be fine. */
    REFUSED,
    /** The target takes no events now. */
    UNAVAILABLE
  }

  /** An outcome, and why in a few words; empty where all is well. */
  record Delivery(Outcome outcome, String why) {
    static final Delivery DONE = new Delivery(Outcome.ACKNOWLEDGED, "");
  }

  /** Delivers an event; whatever the network does is an outcome, and takes seconds at most. */
  Delivery send(String connector, byte[] event) throws InterruptedException;

  /** Closes the connections; a later `send` opens them again. */
  void close();
}
