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
 * Observes one topic's records in one task, and reports new shapes to the connector's run.
 *
 * <p>One thread passes the records; any thread may read the results. Work beyond nanoseconds is
 * done only for a new schema; a known one is recognised by identity, otherwise compared.
 */
final class TopicObserver {
  private static final int RECENT = 8;

  /**
   * Some sources create an equal schema for each record; to save comparisons, up to so many records
   * are skipped between two.
   */
  private static final int MAX_STRIDE = 64;

  private static final int SAMPLED_FIRST = 100;
  private static final int SAMPLED_EVERY = 1_000;
  private static final int NO_ID = -1;

  /** Bytes that only look like an id may differ with each record, so requests are limited. */
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
  private final Set<Integer> requestedIds = new HashSet<>();
  private int schemaId = NO_ID;

  TopicObserver(String topic, ConnectorRun run) {
    this.topic = topic;
    this.run = run;
  }

  /** How many records have passed. */
  long records() {
    return records.getPlain();
  }

  /** The last record's shape; null before the first. */
  Shape shape() {
    Schemas last = current;
    return last == null ? null : last.shape();
  }

  void observe(ConnectRecord<?> record) {
    // Only one thread writes, so no atomic increment is needed; readers see it soon.
    records.lazySet(records.getPlain() + 1);
    Schema key = record.keySchema();
    Schema value = record.valueSchema();
    Schemas last = current;
    if (last == null || last.value() != value || last.key() != key) {
      observeSchemas(key, value, record.value() instanceof Map);
    }
    if (value == null || value.type() == Schema.Type.BYTES) {
      observeValue(record.value());
    }
  }

  private void observeSchemas(Schema key, Schema value, boolean isSampled) {
    Schemas last = current;
    for (Schemas known : recent) {
      if (known != null && known.value() == value && known.key() == key) {
        current = known;
        return;
      }
    }
    if (last != null && resembles(last.key(), key) && resembles(last.value(), value)) {
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
    Schemas added = new Schemas(key, value, ConnectSchemas.shapeOf(key, value));
    recent[nextRecent] = added;
    nextRecent = (nextRecent + 1) % RECENT;
    current = added;
    if (value != null || !isSampled) {
      run.setShape(topic, added.shape());
    }
  }

  /** Whether two schemas agree in what is cheap to compare. */
  private static boolean resembles(Schema one, Schema other) {
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

  private void observeValue(Object value) {
    if (value instanceof Map<?, ?> map) {
      sample(map);
    } else if (value instanceof byte[] bytes) {
      observeId(bytes.length >= 5 && bytes[0] == 0 ? ByteBuffer.wrap(bytes).getInt(1) : NO_ID);
    } else if (value instanceof ByteBuffer bytes) {
      int start = bytes.position();
      observeId(bytes.remaining() >= 5 && bytes.get(start) == 0 ? bytes.getInt(start + 1) : NO_ID);
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
      run.setShape(
          topic, new Shape(Shape.Origin.SAMPLE, null, null, sample.fields(), keyFields(), null));
    }
  }

  private void observeId(int read) {
    int id = Math.max(NO_ID, read);
    if (id == schemaId && !requestedIds.isEmpty()) {
      return;
    }
    schemaId = id;
    if (requestedIds.size() < MAX_IDS && requestedIds.add(id)) {
      run.requestSchema(topic, id == NO_ID ? null : id, keyFields());
    }
  }

  private List<FieldShape> keyFields() {
    Schemas last = current;
    return last == null ? List.of() : last.shape().keyFields();
  }
}
