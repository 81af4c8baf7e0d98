package headwater.connect;

import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * The content of one event of a connector's run.
 *
 * @param since when the run started
 * @param tasks the numbers of the tasks that run in this JVM, in order
 * @param recordsSeen the records of all topics since the run started
 * @param topics the topics in this event
 */
record RunUpdate(
    State state,
    Instant time,
    Instant since,
    UUID runId,
    String connector,
    Kind kind,
    List<Integer> tasks,
    long recordsSeen,
    List<TopicUpdate> topics,
    Settings settings) {
  /** The states that a transform can determine; to it, a failure looks like a stop. */
  enum State {
    START,
    RUNNING,
    ABORT
  }

  /** What the connector does with topics. */
  enum Kind {
    /** The connector writes topics. */
    SOURCE,
    /** The connector reads topics. */
    SINK,
    /** No record has passed yet. */
    UNKNOWN
  }

  /** A topic, how many of its records have passed, and their shape; null if none has passed. */
  record TopicUpdate(String name, long records, Shape shape) {
    /** How many of its fields are reported. */
    int size() {
      return shape == null
          ? 0
          : FieldShape.sizeOf(shape.fields()) + FieldShape.sizeOf(shape.keyFields());
    }
  }
}
