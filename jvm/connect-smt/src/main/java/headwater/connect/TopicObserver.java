package headwater.connect;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;

/**
 * Watches one topic's records in one task, and tells the connector's run what is new.
 *
 * <p>One thread brings the records; any thread may read what was seen. What costs more than
 * nanoseconds is done when a schema is seen first; a schema is known again by being the same
 * object, and else compared.
 */
final class TopicObserver {
  private static final int RECENT = 8;

  /**
   * Sources that make a schema anew for each record would have it compared each time; so not each
   * is.
   */
  private static final int MAX_STRIDE = 64;

  private static final int SAMPLED_FIRST = 100;
  private static final int SAMPLED_EVERY = 1_000;
  private static final int NO_ID = -1;

  /** Values that are bytes may begin like an id and hold another with each record. */
  private static final int MAX_IDS = 100;

  private record Schemas(Schema key, Schema value, Shape shape) {}

  private final String topic;
  private final ConnectorRun run;
  private final AtomicLong records = new AtomicLong();
  private final Schemas[] recent = new Schemas[RECENT];
  private int nextRecent;
  private volatile Schemas current;
  private int stride;
  private int toSkip;
  private long sampled;
  private int toSample;
  private final Set<Integer> askedFor = new HashSet<>();
  private int schemaId = NO_ID;

  TopicObserver(String topic, ConnectorRun run) {
    this.topic = topic;
    this.run = run;
  }

  /** How many records have passed. */
  long records() {
    return records.getPlain();
  }

  /** What the last record looked like; null before the first. */
  Shape shape() {
    Schemas last = current;
    return last == null ? null : last.shape();
  }

  void see(ConnectRecord<?> record) {
    // Only one thread counts, so adding needs no lock; readers see it soon.
    records.lazySet(records.getPlain() + 1);
    Schema key = record.keySchema();
    Schema value = record.valueSchema();
    Schemas last = current;
    if (last == null || last.value() != value || last.key() != key) {
      seeSchemas(key, value, record.value() instanceof Map);
    }
    if (value == null || value.type() == Schema.Type.BYTES) {
      seeInside(record.value());
    }
  }

  private void seeSchemas(Schema key, Schema value, boolean isSampled) {
    Schemas last = current;
    for (Schemas known : recent) {
      if (known != null && known.value() == value && known.key() == key) {
        current = known;
        return;
      }
    }
    if (last != null && looksLike(last.key(), key) && looksLike(last.value(), value)) {
      if (toSkip-- > 0) {
        return;
      }
      if (equal(last.key(), key) && equal(last.value(), value)) {
        stride = Math.min(MAX_STRIDE, Math.max(1, stride * 2));
        toSkip = stride;
        return;
      }
    }
    stride = 0;
    toSkip = 0;
    Schemas seen = new Schemas(key, value, ConnectSchemas.shapeOf(key, value));
    recent[nextRecent] = seen;
    nextRecent = (nextRecent + 1) % RECENT;
    current = seen;
    if (value != null || !isSampled) {
      run.seen(topic, seen.shape());
    }
  }

  /** Whether two schemas are alike in what is cheap to compare. */
  private static boolean looksLike(Schema one, Schema other) {
    if (one == null || other == null) {
      return one == other;
    }
    return one.type() == other.type()
        && (one.name() == null ? other.name() == null : one.name().equals(other.name()))
        && (one.version() == null ? other.version() == null : one.version().equals(other.version()))
        && (one.type() != Schema.Type.STRUCT || one.fields().size() == other.fields().size());
  }

  private static boolean equal(Schema one, Schema other) {
    return one == null ? other == null : one.equals(other);
  }

  private void seeInside(Object value) {
    if (value instanceof Map<?, ?> map) {
      sample(map);
    } else if (value instanceof byte[] bytes) {
      readId(bytes.length >= 5 && bytes[0] == 0 ? ByteBuffer.wrap(bytes).getInt(1) : NO_ID);
    } else if (value instanceof ByteBuffer bytes) {
      int start = bytes.position();
      readId(bytes.remaining() >= 5 && bytes.get(start) == 0 ? bytes.getInt(start + 1) : NO_ID);
    }
  }

  private void sample(Map<?, ?> value) {
    if (toSample-- > 0) {
      return;
    }
    FieldSample sample = run.sampleOf(topic);
    sample.add(value);
    sampled++;
    toSample = sampled < SAMPLED_FIRST ? 0 : SAMPLED_EVERY;
    if (sampled == 1 || sampled >= SAMPLED_FIRST) {
      run.seen(
          topic, new Shape(Shape.Origin.SAMPLE, null, null, sample.fields(), keyFields(), null));
    }
  }

  private void readId(int read) {
    int id = Math.max(NO_ID, read);
    if (id == schemaId && !askedFor.isEmpty()) {
      return;
    }
    schemaId = id;
    if (askedFor.size() < MAX_IDS && askedFor.add(id)) {
      run.askRegistry(topic, id == NO_ID ? null : id, keyFields());
    }
  }

  private List<FieldShape> keyFields() {
    Schemas last = current;
    return last == null ? List.of() : last.shape().keyFields();
  }
}
