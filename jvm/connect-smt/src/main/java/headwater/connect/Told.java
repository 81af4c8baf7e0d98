package headwater.connect;

import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * What a connector's run has to tell at one moment; an event is made of it.
 *
 * @param tasks those that run in this JVM, in order
 * @param recordsSeen of all topics since the run began
 * @param topics those that this event is about
 */
record Told(
    State state,
    Instant time,
    Instant since,
    UUID runId,
    String connector,
    Kind kind,
    List<Integer> tasks,
    long recordsSeen,
    List<ToldTopic> topics,
    Settings settings) {
  /**
   * The states that can be known here. Whether a connector failed or was stopped looks the same.
   */
  enum State {
    START,
    RUNNING,
    ABORT
  }

  /** What the connector does with topics. */
  enum Kind {
    /** It writes them. */
    SOURCE,
    /** It reads them. */
    SINK,
    /** No record has passed yet. */
    UNKNOWN
  }

  /**
   * A topic, how many of its records have passed, and what they look like; null where none has
   * passed.
   */
  record ToldTopic(String name, long records, Shape shape) {
    /** How many fields are told of it. */
    int size() {
      return shape == null
          ? 0
          : FieldShape.sizeOf(shape.fields()) + FieldShape.sizeOf(shape.keyFields());
    }
  }
}
