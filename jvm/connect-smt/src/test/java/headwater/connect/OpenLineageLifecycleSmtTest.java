package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import headwater.signing.JsonReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.MetricValueProvider;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The transform as the worker uses it, with a real HTTP server as the lineage service. */
class OpenLineageLifecycleSmtTest {
  private HttpPeer service;

  @BeforeEach
  void start() throws IOException {
    service = new HttpPeer();
    service.answer("/api/v1/lineage", 201, "");
  }

  @AfterEach
  void stop() {
    service.close();
  }

  @Test
  void manyTasksOnManyThreadsAreOneRunAndEveryRecordIsCounted() throws Exception {
    int tasks = 8;
    int records = 20_000;
    List<OpenLineageLifecycleSmt<SourceRecord>> smts = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      smts.add(configured("many", task));
    }
    Schema[] schemas = {
      SchemaBuilder.struct().field("a", Schema.STRING_SCHEMA).build(),
      SchemaBuilder.struct().field("b", Schema.STRING_SCHEMA).build()
    };

    List<Callable<Boolean>> work = new ArrayList<>();
    for (OpenLineageLifecycleSmt<SourceRecord> smt : smts) {
      work.add(
          () -> {
            boolean isSame = true;
            for (int number = 0; number < records; number++) {
              SourceRecord record = record("t" + number % 3, schemas[number % 2]);
              isSame &= smt.apply(record) == record;
            }
            smt.close();
            return isSame;
          });
    }
    ExecutorService threads = Executors.newFixedThreadPool(tasks);
    for (Future<Boolean> done : threads.invokeAll(work)) {
      assertThat(done.get()).isTrue();
    }
    threads.shutdown();

    EmissionTest.eventually(() -> types("many").contains("ABORT"));
    List<Map<?, ?>> events = events("many");
    assertThat(events.stream().map(event -> at(event, "run", "runId")).distinct()).hasSize(1);
    assertThat(types("many")).containsOnlyOnce("START").containsOnlyOnce("ABORT");
    Map<?, ?> last = events.get(events.size() - 1);
    Object seen = at(last, "run", "facets", "headwater_connect", "recordsSeen");
    assertThat(seen).hasToString("NumberLiteral[text=" + tasks * records + "]");
  }

  @Test
  void everyRecordIsReturnedUnchanged() {
    Random chance = new Random(7);
    OpenLineageLifecycleSmt<SinkRecord> smt = new OpenLineageLifecycleSmt<>();
    smt.configure(settings());
    smt.withPluginMetrics(metrics("fuzz", 0));

    for (int number = 0; number < 20_000; number++) {
      SinkRecord record = anyRecord(chance);
      SinkRecord asText =
          record.newRecord(
              record.topic(),
              record.kafkaPartition(),
              record.keySchema(),
              record.key(),
              record.valueSchema(),
              record.value(),
              record.timestamp());

      SinkRecord result = smt.apply(record);

      assertThat(result == record).isTrue();
      assertThat(result.equals(asText)).isTrue();
    }
    assertThat(smt.apply(null)).isNull();
    smt.close();
  }

  @Test
  void noConfigurationFailsATask() {
    List<Map<String, ?>> configurations =
        List.of(
            Map.of(),
            Map.of("openlineage.url", "::::"),
            Map.of("openlineage.url", "http://"),
            Map.of("bootstrap.servers", ",,,"),
            Map.of("bootstrap.servers", List.of()),
            Map.of("openlineage.url", service.url(), "emission.interval", "x", "topics", ",,"),
            Map.of("openlineage.url", service.url(), "node.key", "\0"),
            Map.of("openlineage.url", service.url(), "connector.name", "\uD800"),
            Map.of("bootstrap.servers", "127.0.0.1:1", "producer.acks", "nonsense"));

    for (Map<String, ?> configuration : configurations) {
      OpenLineageLifecycleSmt<SourceRecord> smt = new OpenLineageLifecycleSmt<>();
      SourceRecord record = record("t", Schema.STRING_SCHEMA);
      assertThatCode(
              () -> {
                smt.configure(configuration);
                smt.withPluginMetrics(metrics("bad", 0));
                assertThat(smt.apply(record)).isSameAs(record);
                smt.close();
                smt.close();
              })
          .doesNotThrowAnyException();
    }
  }

  @Test
  void faultsInEveryHookAreNotThrown() {
    OpenLineageLifecycleSmt<FailingRecord> smt = new OpenLineageLifecycleSmt<>();
    FailingRecord record = new FailingRecord();

    assertThatCode(
            () -> {
              smt.configure(null);
              smt.withPluginMetrics(null);
              smt.configure(settings());
              smt.withPluginMetrics(metrics("failing", 0));
              assertThat(smt.apply(record)).isSameAs(record);
              smt.close();
            })
        .doesNotThrowAnyException();
  }

  @Test
  void recordsPassBeforeItIsConfiguredAndAfterItIsClosed() {
    OpenLineageLifecycleSmt<SourceRecord> smt = new OpenLineageLifecycleSmt<>();
    SourceRecord record = record("t", Schema.STRING_SCHEMA);

    assertThat(smt.apply(record)).isSameAs(record);
    smt.configure(settings());
    smt.close();
    assertThat(smt.apply(record)).isSameAs(record);
  }

  @Test
  void withoutMetricsTheTasksThreadGivesTheName() throws InterruptedException {
    OpenLineageLifecycleSmt<SourceRecord> smt = new OpenLineageLifecycleSmt<>();
    smt.configure(settings());
    Thread task =
        new Thread(() -> smt.apply(record("t", Schema.STRING_SCHEMA)), "task-thread-old-worker-2");

    task.start();
    task.join();
    smt.close();

    EmissionTest.eventually(() -> types("old-worker").contains("ABORT"));
    assertThat(types("old-worker")).containsExactly("START", "RUNNING", "ABORT");
  }

  @Test
  void aSinkReadsItsTopicsAndWritesTheConfiguredDatasets() {
    Map<String, Object> settings = settings();
    settings.put("dataset.namespace", "postgres://db:5432");
    settings.put("dataset.names", "shop.public.orders");
    OpenLineageLifecycleSmt<SinkRecord> smt = new OpenLineageLifecycleSmt<>();
    smt.configure(settings);
    smt.withPluginMetrics(metrics("to-postgres", 0));

    smt.apply(new SinkRecord("orders", 0, null, null, Schema.STRING_SCHEMA, "x", 0));
    smt.close();

    EmissionTest.eventually(() -> types("to-postgres").contains("RUNNING"));
    Map<?, ?> event = events("to-postgres").get(1);
    assertThat(names(event, "inputs")).containsExactly("kafka://broker:9092 orders");
    assertThat(names(event, "outputs")).containsExactly("postgres://db:5432 shop.public.orders");
  }

  @Test
  void connectFindsTheTransformByItsServiceFile() {
    assertThat(ServiceLoader.load(Transformation.class))
        .anyMatch(found -> found instanceof OpenLineageLifecycleSmt<?>);
  }

  private OpenLineageLifecycleSmt<SourceRecord> configured(String connector, int task) {
    OpenLineageLifecycleSmt<SourceRecord> smt = new OpenLineageLifecycleSmt<>();
    smt.configure(settings());
    smt.withPluginMetrics(metrics(connector, task));
    return smt;
  }

  private Map<String, Object> settings() {
    Map<String, Object> settings = new HashMap<>();
    settings.put("openlineage.url", service.url());
    settings.put("bootstrap.servers", "broker:9092");
    settings.put("restart.within", "0");
    return settings;
  }

  private List<Map<?, ?>> events(String connector) {
    List<Map<?, ?>> events = new ArrayList<>();
    for (HttpPeer.Request request : service.requests()) {
      Map<?, ?> event = (Map<?, ?>) JsonReader.read(request.body());
      if (connector.equals(at(event, "job", "name"))) {
        events.add(event);
      }
    }
    return events;
  }

  private List<String> types(String connector) {
    return events(connector).stream().map(event -> (String) event.get("eventType")).toList();
  }

  private static List<String> names(Map<?, ?> event, String side) {
    return ((List<?>) event.get(side))
        .stream().map(one -> at(one, "namespace") + " " + at(one, "name")).toList();
  }

  private static Object at(Object value, String... path) {
    Object found = value;
    for (String step : path) {
      found = ((Map<?, ?>) found).get(step);
    }
    return found;
  }

  private static SourceRecord record(String topic, Schema schema) {
    return new SourceRecord(Map.of(), Map.of(), topic, schema, null);
  }

  private static SinkRecord anyRecord(Random chance) {
    String topic = chance.nextInt(20) == 0 ? null : "topic-" + chance.nextInt(5);
    Schema struct =
        SchemaBuilder.struct()
            .optional()
            .field("f" + chance.nextInt(9), Schema.OPTIONAL_STRING_SCHEMA)
            .build();
    Object[] schemaless = {
      null,
      "text",
      7,
      new byte[] {0, 0, 0, 0, 1},
      ByteBuffer.allocate(3),
      Arrays.asList(1, null),
      new Object()
    };
    Map<Object, Object> odd = new HashMap<>();
    odd.put(null, odd.toString());
    odd.put(chance.nextInt(), Arrays.asList(Map.of("x", 1), null));
    return switch (chance.nextInt(5)) {
      case 0 ->
          new SinkRecord(
              topic, 0, null, null, null, schemaless[chance.nextInt(schemaless.length)], 0);
      case 1 -> new SinkRecord(topic, 0, null, odd, null, odd, 0);
      case 2 -> new SinkRecord(topic, 0, struct, new Struct(struct), struct, new Struct(struct), 0);
      case 3 -> new SinkRecord(topic, 0, Schema.STRING_SCHEMA, "k", struct, null, 0);
      default ->
          new SinkRecord(topic, 0, null, null, Schema.BYTES_SCHEMA, new byte[chance.nextInt(8)], 0);
    };
  }

  private static PluginMetrics metrics(String connector, int task) {
    return new PluginMetrics() {
      @Override
      public MetricName metricName(
          String name, String description, LinkedHashMap<String, String> tags) {
        Map<String, String> all = new LinkedHashMap<>(tags);
        all.put("connector", connector);
        all.put("task", String.valueOf(task));
        return new MetricName(name, "plugins", description, all);
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
    };
  }

  /** A record whose accessors throw, as those of a connector's own class may. */
  private static final class FailingRecord extends ConnectRecord<FailingRecord> {
    FailingRecord() {
      super("t", null, null, null, null, null, null);
    }

    @Override
    public String topic() {
      throw new StackOverflowError();
    }

    @Override
    public FailingRecord newRecord(
        String topic,
        Integer partition,
        Schema keySchema,
        Object key,
        Schema valueSchema,
        Object value,
        Long timestamp) {
      return this;
    }

    @Override
    public FailingRecord newRecord(
        String topic,
        Integer partition,
        Schema keySchema,
        Object key,
        Schema valueSchema,
        Object value,
        Long timestamp,
        Iterable<Header> headers) {
      return this;
    }
  }
}
