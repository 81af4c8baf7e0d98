package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.connect.RunUpdate.Kind;
import headwater.connect.RunUpdate.State;
import headwater.connect.RunUpdate.TopicUpdate;
import headwater.signing.CanonicalJson;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

/** A connector's run, with a clock set by the test. */
class ConnectorRunTest {
  private static final Instant START = Instant.parse("2026-05-19T08:00:00Z");
  private static final Schema V1 =
      SchemaBuilder.struct().version(1).field("id", Schema.INT32_SCHEMA).build();
  private static final Schema V2 =
      SchemaBuilder.struct().version(2).field("id", Schema.INT64_SCHEMA).build();

  private Instant now = START;
  private final List<String> requested = new ArrayList<>();
  private final Settings settings =
      Settings.read(
          Map.of("bootstrap.servers", "b:9092", "emission.interval", "30s", "restart.within", "5s"),
          Map.of(),
          name -> null,
          warning -> {});
  private final ConnectorRun run =
      new ConnectorRun(
          "orders",
          settings,
          () -> now,
          new ConnectorRun.Callbacks() {
            @Override
            public void wake() {}

            @Override
            public void requestSchema(
                ConnectorRun requesting,
                String topic,
                Integer schemaId,
                List<FieldShape> keyFields) {
              requested.add(topic + " " + schemaId);
            }
          });

  @Test
  void threeTasksAreOneRunThatStartsWithTheFirst() {
    started(0);
    after(Duration.ofSeconds(1));
    started(1);
    started(2);

    List<RunUpdate> updates = run.due();

    assertThat(states(updates)).containsExactly(State.START);
    assertThat(updates.get(0).time()).isEqualTo(START);
    assertThat(updates.get(0).tasks()).containsExactly(0, 1, 2);
    assertThat(updates.get(0).kind()).isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void aTopicOfThreeTasksIsReportedOnce() {
    List<TaskObserver> tasks = IntStream.range(0, 3).mapToObj(this::started).toList();
    run.due();

    tasks.forEach(task -> task.observe(sourceRecord("orders", V1)));
    List<RunUpdate> updates = run.due();

    assertThat(states(updates)).containsExactly(State.RUNNING);
    assertThat(updates.get(0).kind()).isEqualTo(Kind.SOURCE);
    assertThat(updates.get(0).topics())
        .containsExactly(new TopicUpdate("orders", 3, ConnectSchemas.shapeOf(null, V1)));
  }

  @Test
  void aChangedSchemaIsReportedOnceThoughOldAndNewAlternate() {
    TaskObserver task = started(0);
    task.observe(sourceRecord("orders", V1));
    run.due();

    for (int turn = 0; turn < 10; turn++) {
      task.observe(sourceRecord("orders", V2));
      task.observe(sourceRecord("orders", V1));
    }

    assertThat(run.due())
        .singleElement()
        .satisfies(
            update ->
                assertThat(update.topics().get(0).shape())
                    .isEqualTo(ConnectSchemas.shapeOf(null, V2)));
  }

  @Test
  void twoSchemasBeforeTheFirstReportAreTwoEvents() {
    TaskObserver task = started(0);
    task.observe(sourceRecord("orders", V1));
    task.observe(sourceRecord("orders", V2));

    List<RunUpdate> updates = run.due();

    assertThat(states(updates)).containsExactly(State.START, State.RUNNING, State.RUNNING);
    assertThat(updates.get(1).topics().get(0).shape().version()).isEqualTo(1);
    assertThat(updates.get(2).topics().get(0).shape().version()).isEqualTo(2);
  }

  @Test
  void aSchemaThatCameBackIsReportedWithTheNextCounters() {
    TaskObserver task = started(0);
    task.observe(sourceRecord("orders", V1));
    task.observe(sourceRecord("orders", V2));
    task.observe(sourceRecord("orders", V1));
    run.due();

    after(Duration.ofSeconds(30));

    assertThat(run.due())
        .singleElement()
        .satisfies(update -> assertThat(update.topics().get(0).shape().version()).isEqualTo(1));
  }

  @Test
  void everyIntervalReportsTheCountersOfTopicsWithNewRecords() {
    TaskObserver task = started(0);
    task.observe(sourceRecord("orders", V1));
    task.observe(sourceRecord("bids", V1));
    run.due();
    after(Duration.ofSeconds(30));
    run.due();

    task.observe(sourceRecord("orders", V1));
    after(Duration.ofSeconds(29));
    List<RunUpdate> tooEarly = run.due();
    after(Duration.ofSeconds(1));
    List<RunUpdate> updates = run.due();

    assertThat(tooEarly).isEmpty();
    assertThat(states(updates)).containsExactly(State.RUNNING);
    assertThat(updates.get(0).recordsSeen()).isEqualTo(3);
    assertThat(updates.get(0).topics()).extracting(TopicUpdate::name).containsExactly("orders");
    assertThat(updates.get(0).topics().get(0).records()).isEqualTo(2);
  }

  @Test
  void aRunWithoutRecordsIsReportedEveryInterval() {
    started(0);
    run.due();
    after(Duration.ofSeconds(30));

    assertThat(states(run.due())).containsExactly(State.RUNNING);
  }

  @Test
  void theLastTasksEndIsAnAbortIfNoTaskComesBack() {
    TaskObserver first = started(0);
    TaskObserver second = started(1);
    first.observe(sourceRecord("orders", V1));
    run.due();
    first.close();
    after(Duration.ofSeconds(2));
    second.close();
    after(Duration.ofSeconds(4));
    List<RunUpdate> tooEarly = run.due();
    after(Duration.ofSeconds(1));

    List<RunUpdate> updates = run.due();

    assertThat(tooEarly).isEmpty();
    assertThat(states(updates)).containsExactly(State.ABORT);
    assertThat(updates.get(0).time()).isEqualTo(START.plusSeconds(2));
    assertThat(updates.get(0).recordsSeen()).isEqualTo(1);
    assertThat(run.isOver()).isTrue();
  }

  @Test
  void aRestartWithinSecondsContinuesTheRunAndItsCounters() {
    TaskObserver task = started(0);
    task.observe(sourceRecord("orders", V1));
    UUID runId = run.due().get(0).runId();
    task.close();
    after(Duration.ofSeconds(4));

    TaskObserver again = started(0);
    again.observe(sourceRecord("orders", V1));
    after(Duration.ofSeconds(60));
    List<RunUpdate> updates = run.due();

    assertThat(states(updates)).containsExactly(State.RUNNING);
    assertThat(updates.get(0).runId()).isEqualTo(runId);
    assertThat(updates.get(0).recordsSeen()).isEqualTo(2);
  }

  @Test
  void aLaterStartIsAnotherRun() {
    TaskObserver task = started(0);
    UUID runId = run.due().get(0).runId();
    task.close();
    after(Duration.ofSeconds(5));
    run.due();

    started(0);
    List<RunUpdate> updates = run.due();

    assertThat(states(updates)).containsExactly(State.START);
    assertThat(updates.get(0).runId()).isNotEqualTo(runId);
    assertThat(updates.get(0).recordsSeen()).isZero();
  }

  @Test
  void atTheShutdownTheRunEndsAtOnce() {
    started(0).close();
    run.shutDown();

    assertThat(states(run.due())).containsExactly(State.START, State.ABORT);
  }

  @Test
  void closingTwiceEndsOneTask() {
    TaskObserver first = started(0);
    started(1);
    first.close();
    first.close();

    assertThat(run.hasTasks()).isTrue();
  }

  @Test
  void moreTopicsThanFitAnEventAreReportedInSeveral() {
    TaskObserver task = started(0);
    IntStream.range(0, 250).forEach(number -> task.observe(sourceRecord("t" + number, V1)));

    List<RunUpdate> updates = run.due();

    assertThat(updates.stream().skip(1).map(event -> event.topics().size()))
        .containsExactly(100, 100, 50);
  }

  @Test
  void wideTopicsAreReportedInEventsThatABrokerAccepts() {
    SchemaBuilder wide = SchemaBuilder.struct();
    IntStream.range(0, 300).forEach(number -> wide.field("column_" + number, Schema.INT64_SCHEMA));
    Schema schema = wide.build();
    TaskObserver task = started(0);
    IntStream.range(0, 100).forEach(number -> task.observe(sourceRecord("t" + number, schema)));
    List<RunUpdate> changes = run.due();
    after(Duration.ofSeconds(30));
    List<RunUpdate> counters = run.due();

    for (List<RunUpdate> updates : List.of(changes, counters)) {
      assertThat(updates.stream().mapToInt(event -> event.topics().size()).sum()).isEqualTo(100);
      assertThat(updates)
          .allSatisfy(
              event ->
                  assertThat(CanonicalJson.write(Events.of(event, "4.3.1", "c")))
                      .hasSizeLessThan(1_000_000));
    }
  }

  @Test
  void topicsBeyondTheLimitAreNotReported() {
    TaskObserver task = started(0);
    IntStream.range(0, 5_000).forEach(number -> task.observe(sourceRecord("t" + number, V1)));

    assertThat(run.due().stream().mapToInt(event -> event.topics().size()).sum()).isEqualTo(1_000);
  }

  @Test
  void recordsWithoutASchemaReportTheFieldsOfTheFirst() {
    TaskObserver task = started(0);
    task.observe(sinkRecord("orders", null, Map.of("id", 1L)));

    RunUpdate update = run.due().get(1);

    assertThat(update.kind()).isEqualTo(Kind.SINK);
    assertThat(update.topics().get(0).shape().origin()).isEqualTo(Shape.Origin.SAMPLE);
    assertThat(update.topics().get(0).shape().fields())
        .containsExactly(new FieldShape("id", "integer"));
  }

  @Test
  void laterFieldsAreReportedWithTheNextCounters() {
    TaskObserver task = started(0);
    task.observe(sinkRecord("orders", null, Map.of("id", 1L)));
    run.due();
    task.observe(sinkRecord("orders", null, Map.of("id", 2L, "note", "x")));
    List<RunUpdate> atOnce = run.due();
    after(Duration.ofSeconds(30));

    assertThat(atOnce).isEmpty();
    assertThat(run.due().get(0).topics().get(0).shape().fields())
        .extracting(FieldShape::name)
        .containsExactly("id", "note");
  }

  @Test
  void equalSchemasCreatedForEachRecordAreOneSchema() {
    TaskObserver task = started(0);
    for (int record = 0; record < 1_000; record++) {
      Schema fresh = SchemaBuilder.struct().version(1).field("id", Schema.INT32_SCHEMA).build();
      task.observe(sourceRecord("orders", fresh));
    }

    assertThat(states(run.due())).containsExactly(State.START, State.RUNNING);
  }

  @Test
  void aChangeAmongSuchSchemasIsFoundThoughTheyResembleEachOther() {
    TaskObserver task = started(0);
    for (int record = 0; record < 1_000; record++) {
      task.observe(
          sourceRecord("orders", SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build()));
    }
    run.due();
    for (int record = 0; record < 100; record++) {
      task.observe(
          sourceRecord("orders", SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).build()));
    }

    assertThat(run.due().get(0).topics().get(0).shape().fields())
        .containsExactly(new FieldShape("id", "int64"));
  }

  @Test
  void theSchemaOfBytesIsRequestedOncePerId() {
    TaskObserver task = openedWithRegistry();
    byte[] seven = {0, 0, 0, 0, 7, 42};
    byte[] eight = {0, 0, 0, 0, 8, 42};

    task.observe(sinkRecord("orders", Schema.BYTES_SCHEMA, seven));
    task.observe(sinkRecord("orders", Schema.BYTES_SCHEMA, seven));
    task.observe(sinkRecord("orders", Schema.BYTES_SCHEMA, eight));
    task.observe(sinkRecord("plain", null, new byte[] {1}));

    assertThat(requested).containsExactly("orders 7", "orders 8", "plain null");
  }

  @Test
  void requestsForBytesThatLookLikeIdsAreLimited() {
    TaskObserver task = openedWithRegistry();

    for (int record = 0; record < 10_000; record++) {
      byte[] number = ByteBuffer.allocate(8).putInt(1, record % 5_000).array();
      task.observe(sinkRecord("numbers", Schema.BYTES_SCHEMA, number));
    }

    assertThat(requested).hasSizeLessThanOrEqualTo(100).doesNotHaveDuplicates();
  }

  @Test
  void aRegisteredShapeOfBytesIsReportedWithTheCounters() {
    TaskObserver task = started(0);
    task.observe(sinkRecord("orders", Schema.BYTES_SCHEMA, new byte[] {0, 0, 0, 0, 7}));
    Shape registered =
        new Shape(
            Shape.Origin.REGISTRY,
            "Order",
            null,
            List.of(new FieldShape("id", "int64")),
            List.of(),
            new RegisteredVersion("orders-value", 1, 7, "AVRO"));
    run.setShape("orders", registered);
    run.due();
    after(Duration.ofSeconds(30));

    assertThat(run.due().get(0).topics().get(0).shape()).isEqualTo(registered);
  }

  private TaskObserver openedWithRegistry() {
    TaskObserver task = new TaskObserver(0, run);
    run.taskStarted(
        task,
        Settings.read(
            Map.of(
                "bootstrap.servers", "b:9092",
                "value.converter.schema.read", "true",
                "schema.registry.url", "http://r"),
            Map.of(),
            name -> null,
            warning -> {}));
    return task;
  }

  private TaskObserver started(int number) {
    TaskObserver task = new TaskObserver(number, run);
    run.taskStarted(task, settings);
    return task;
  }

  private void after(Duration time) {
    now = now.plus(time);
  }

  private static List<State> states(List<RunUpdate> updates) {
    return updates.stream().map(RunUpdate::state).toList();
  }

  private static SourceRecord sourceRecord(String topic, Schema schema) {
    return new SourceRecord(Map.of(), Map.of(), topic, schema, null);
  }

  private static SinkRecord sinkRecord(String topic, Schema schema, Object value) {
    return new SinkRecord(topic, 0, null, null, schema, value, 0);
  }
}
