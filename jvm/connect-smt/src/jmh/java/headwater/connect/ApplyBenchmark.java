package headwater.connect;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.MetricValueProvider;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of a record with the transform, after the first of its topic and schema, and without it.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ApplyBenchmark {
  private static final int RECORDS = 1_024;
  private static final int FIELDS = 30;

  /** The kind of records: their topics and schemas. */
  @Param({
    "one-schema",
    "six-topics",
    "two-alternating-schemas",
    "schema-per-record",
    "no-schema",
    "bytes"
  })
  public String records;

  private final SinkRecord[] passing = new SinkRecord[RECORDS];
  private Transformation<SinkRecord> smt;
  private int next;

  /** Events go to a port where nothing listens: the worst case for the emission. */
  @Setup(Level.Trial)
  public void configure() {
    OpenLineageLifecycleSmt<SinkRecord> configured = new OpenLineageLifecycleSmt<>();
    configured.configure(
        Map.of("openlineage.url", "http://127.0.0.1:1", "bootstrap.servers", "broker:9092"));
    configured.withPluginMetrics(new Named(records));
    smt = configured;
    Schema first = schema("int64");
    Schema second = schema("string");
    for (int number = 0; number < RECORDS; number++) {
      passing[number] =
          switch (records) {
            case "one-schema" -> record("orders", first, null);
            case "six-topics" -> record("orders-" + number % 6, first, null);
            case "two-alternating-schemas" ->
                record("orders", number % 2 == 0 ? first : second, null);
            case "schema-per-record" -> record("orders", schema("int64"), null);
            case "no-schema" -> record("orders", null, value());
            default -> record("orders", Schema.BYTES_SCHEMA, new byte[] {0, 0, 0, 0, 7, 1});
          };
    }
  }

  @TearDown(Level.Trial)
  public void close() {
    smt.close();
  }

  @Benchmark
  public SinkRecord with() {
    return smt.apply(passing[next++ & RECORDS - 1]);
  }

  @Benchmark
  public SinkRecord without() {
    return passing[next++ & RECORDS - 1];
  }

  private static SinkRecord record(String topic, Schema schema, Object value) {
    return new SinkRecord(topic, 0, null, null, schema, value, 0);
  }

  private static Schema schema(String lastType) {
    SchemaBuilder schema = SchemaBuilder.struct().name("shop.Order");
    for (int number = 1; number < FIELDS; number++) {
      schema.field("field_" + number, Schema.OPTIONAL_STRING_SCHEMA);
    }
    return schema
        .field("last", lastType.equals("int64") ? Schema.INT64_SCHEMA : Schema.STRING_SCHEMA)
        .build();
  }

  private static Map<String, Object> value() {
    Map<String, Object> value = new HashMap<>();
    for (int number = 1; number <= FIELDS; number++) {
      value.put("field_" + number, "text");
    }
    return value;
  }

  private record Named(String connector) implements PluginMetrics {
    @Override
    public MetricName metricName(
        String name, String description, LinkedHashMap<String, String> tags) {
      return new MetricName(
          name, "plugins", description, Map.of("connector", connector, "task", "0"));
    }

    @Override
    public void addMetric(MetricName name, MetricValueProvider<?> provider) {}

    @Override
    public void removeMetric(MetricName name) {}

    @Override
    public Sensor addSensor(String name) {
      return null;
    }

    @Override
    public void removeSensor(String name) {}
  }
}
