package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.connect.Told.Kind;
import headwater.connect.Told.State;
import headwater.connect.Told.ToldTopic;
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

/** A connector's run, with a clock that stands still until it is told. */
class ConnectorRunTest {
  private static final Instant START = Instant.parse("2026-05-19T08:00:00Z");
  private static final Schema V1 =
      SchemaBuilder.struct().version(1).field("id", Schema.INT32_SCHEMA).build();
  private static final Schema V2 =
      SchemaBuilder.struct().version(2).field("id", Schema.INT64_SCHEMA).build();

  private Instant now = START;
  private final List<String> asked = new ArrayList<>();
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
          new ConnectorRun.Environment() {
            @Override
            public void wake() {}

            @Override
            public void askRegistry(
                ConnectorRun asking, String topic, Integer schemaId, List<FieldShape> keyFields) {
              asked.add(topic + " " + schemaId);
            }
          });

  @Test
  void threeTasksAreOneRunThatStartsWithTheFirst() {
    opened(0);
    after(Duration.ofSeconds(1));
    opened(1);
    opened(2);

    List<Told> told = run.due();

    assertThat(states(told)).containsExactly(State.START);
    assertThat(told.get(0).time()).isEqualTo(START);
    assertThat(told.get(0).tasks()).containsExactly(0, 1, 2);
    assertThat(told.get(0).kind()).isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void aTopicThatThreeTasksSeeIsToldOnce() {
    List<TaskObserver> tasks = IntStream.range(0, 3).mapToObj(this::opened).toList();
    run.due();

    tasks.forEach(task -> task.see(sourceRecord("orders", V1)));
    List<Told> told = run.due();

    assertThat(states(told)).containsExactly(State.RUNNING);
    assertThat(told.get(0).kind()).isEqualTo(Kind.SOURCE);
    assertThat(told.get(0).topics())
        .containsExactly(new ToldTopic("orders", 3, ConnectSchemas.shapeOf(null, V1)));
  }

  @Test
  void aChangedSchemaIsToldOnceThoughOldAndNewComeInTurns() {
    TaskObserver task = opened(0);
    task.see(sourceRecord("orders", V1));
    run.due();

    for (int turn = 0; turn < 10; turn++) {
      task.see(sourceRecord("orders", V2));
      task.see(sourceRecord("orders", V1));
    }

    assertThat(run.due())
        .singleElement()
        .satisfies(
            told ->
                assertThat(told.topics().get(0).shape())
                    .isEqualTo(ConnectSchemas.shapeOf(null, V2)));
  }

  @Test
  void twoSchemasThatCameBeforeAnythingWasToldAreTwoEvents() {
    TaskObserver task = opened(0);
    task.see(sourceRecord("orders", V1));
    task.see(sourceRecord("orders", V2));

    List<Told> told = run.due();

    assertThat(states(told)).containsExactly(State.START, State.RUNNING, State.RUNNING);
    assertThat(told.get(1).topics().get(0).shape().version()).isEqualTo(1);
    assertThat(told.get(2).topics().get(0).shape().version()).isEqualTo(2);
  }

  @Test
  void aSchemaThatWasGoneBackToIsToldWithTheNextCounters() {
    TaskObserver task = opened(0);
    task.see(sourceRecord("orders", V1));
    task.see(sourceRecord("orders", V2));
    task.see(sourceRecord("orders", V1));
    run.due();

    after(Duration.ofSeconds(30));

    assertThat(run.due())
        .singleElement()
        .satisfies(told -> assertThat(told.topics().get(0).shape().version()).isEqualTo(1));
  }

  @Test
  void everyIntervalTellsTheCountersOfTheTopicsThatMoved() {
    TaskObserver task = opened(0);
    task.see(sourceRecord("orders", V1));
    task.see(sourceRecord("bids", V1));
    run.due();
    after(Duration.ofSeconds(30));
    run.due();

    task.see(sourceRecord("orders", V1));
    after(Duration.ofSeconds(29));
    List<Told> tooEarly = run.due();
    after(Duration.ofSeconds(1));
    List<Told> told = run.due();

    assertThat(tooEarly).isEmpty();
    assertThat(states(told)).containsExactly(State.RUNNING);
    assertThat(told.get(0).recordsSeen()).isEqualTo(3);
    assertThat(told.get(0).topics()).extracting(ToldTopic::name).containsExactly("orders");
    assertThat(told.get(0).topics().get(0).records()).isEqualTo(2);
  }

  @Test
  void aRunWithoutRecordsSaysEveryIntervalThatItIsThere() {
    opened(0);
    run.due();
    after(Duration.ofSeconds(30));

    assertThat(states(run.due())).containsExactly(State.RUNNING);
  }

  @Test
  void theLastTasksEndIsAnAbortOnceNothingCameBack() {
    TaskObserver first = opened(0);
    TaskObserver second = opened(1);
    first.see(sourceRecord("orders", V1));
    run.due();
    first.close();
    after(Duration.ofSeconds(2));
    second.close();
    after(Duration.ofSeconds(4));
    List<Told> tooEarly = run.due();
    after(Duration.ofSeconds(1));

    List<Told> told = run.due();

    assertThat(tooEarly).isEmpty();
    assertThat(states(told)).containsExactly(State.ABORT);
    assertThat(told.get(0).time()).isEqualTo(START.plusSeconds(2));
    assertThat(told.get(0).recordsSeen()).isEqualTo(1);
    assertThat(run.isOver()).isTrue();
  }

  @Test
  void aRestartWithinSecondsGoesOnWithTheRunAndItsCounters() {
    TaskObserver task = opened(0);
    task.see(sourceRecord("orders", V1));
    UUID runId = run.due().get(0).runId();
    task.close();
    after(Duration.ofSeconds(4));

    TaskObserver again = opened(0);
    again.see(sourceRecord("orders", V1));
    after(Duration.ofSeconds(60));
    List<Told> told = run.due();

    assertThat(states(told)).containsExactly(State.RUNNING);
    assertThat(told.get(0).runId()).isEqualTo(runId);
    assertThat(told.get(0).recordsSeen()).isEqualTo(2);
  }

  @Test
  void aLaterStartIsAnotherRun() {
    TaskObserver task = opened(0);
    UUID runId = run.due().get(0).runId();
    task.close();
    after(Duration.ofSeconds(5));
    run.due();

    opened(0);
    List<Told> told = run.due();

    assertThat(states(told)).containsExactly(State.START);
    assertThat(told.get(0).runId()).isNotEqualTo(runId);
    assertThat(told.get(0).recordsSeen()).isZero();
  }

  @Test
  void whenTheJvmEndsNothingIsWaitedFor() {
    opened(0).close();
    run.endSoon();

    assertThat(states(run.due())).containsExactly(State.START, State.ABORT);
  }

  @Test
  void closingTwiceEndsOneTask() {
    TaskObserver first = opened(0);
    opened(1);
    first.close();
    first.close();

    assertThat(run.hasTasks()).isTrue();
  }

  @Test
  void moreTopicsThanAnEventShouldHoldAreToldInSeveral() {
    TaskObserver task = opened(0);
    IntStream.range(0, 250).forEach(number -> task.see(sourceRecord("t" + number, V1)));

    List<Told> told = run.due();

    assertThat(told.stream().skip(1).map(event -> event.topics().size()))
        .containsExactly(100, 100, 50);
  }

  @Test
  void wideTopicsAreToldInEventsThatABrokerTakes() {
    SchemaBuilder wide = SchemaBuilder.struct();
    IntStream.range(0, 300).forEach(number -> wide.field("column_" + number, Schema.INT64_SCHEMA));
    Schema schema = wide.build();
    TaskObserver task = opened(0);
    IntStream.range(0, 100).forEach(number -> task.see(sourceRecord("t" + number, schema)));
    List<Told> news = run.due();
    after(Duration.ofSeconds(30));
    List<Told> counted = run.due();

    for (List<Told> told : List.of(news, counted)) {
      assertThat(told.stream().mapToInt(event -> event.topics().size()).sum()).isEqualTo(100);
      assertThat(told)
          .allSatisfy(
              event ->
                  assertThat(CanonicalJson.write(Events.of(event, "4.3.1", "c")))
                      .hasSizeLessThan(1_000_000));
    }
  }

  @Test
  void topicsBeyondTheBoundAreNotKept() {
    TaskObserver task = opened(0);
    IntStream.range(0, 5_000).forEach(number -> task.see(sourceRecord("t" + number, V1)));

    assertThat(run.due().stream().mapToInt(event -> event.topics().size()).sum()).isEqualTo(1_000);
  }

  @Test
  void recordsWithoutASchemaTellTheFieldsOfTheFirst() {
    TaskObserver task = opened(0);
    task.see(sinkRecord("orders", null, Map.of("id", 1L)));

    Told told = run.due().get(1);

    assertThat(told.kind()).isEqualTo(Kind.SINK);
    assertThat(told.topics().get(0).shape().origin()).isEqualTo(Shape.Origin.SAMPLE);
    assertThat(told.topics().get(0).shape().fields())
        .containsExactly(new FieldShape("id", "integer"));
  }

  @Test
  void fieldsThatComeLaterAreToldWithTheNextCounters() {
    TaskObserver task = opened(0);
    task.see(sinkRecord("orders", null, Map.of("id", 1L)));
    run.due();
    task.see(sinkRecord("orders", null, Map.of("id", 2L, "note", "x")));
    List<Told> atOnce = run.due();
    after(Duration.ofSeconds(30));

    assertThat(atOnce).isEmpty();
    assertThat(run.due().get(0).topics().get(0).shape().fields())
        .extracting(FieldShape::name)
        .containsExactly("id", "note");
  }

  @Test
  void aSchemaMadeAnewForEachRecordIsTheSameSchema() {
    TaskObserver task = opened(0);
    for (int record = 0; record < 1_000; record++) {
      Schema fresh = SchemaBuilder.struct().version(1).field("id", Schema.INT32_SCHEMA).build();
      task.see(sourceRecord("orders", fresh));
    }

    assertThat(states(run.due())).containsExactly(State.START, State.RUNNING);
  }

  @Test
  void aChangeAmongSchemasMadeAnewIsSeenThoughItLooksAlike() {
    TaskObserver task = opened(0);
    for (int record = 0; record < 1_000; record++) {
      task.see(
          sourceRecord("orders", SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build()));
    }
    run.due();
    for (int record = 0; record < 100; record++) {
      task.see(
          sourceRecord("orders", SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).build()));
    }

    assertThat(run.due().get(0).topics().get(0).shape().fields())
        .containsExactly(new FieldShape("id", "int64"));
  }

  @Test
  void valuesThatAreBytesHaveTheirSchemaAskedForOncePerId() {
    TaskObserver task = openedWithRegistry();
    byte[] seven = {0, 0, 0, 0, 7, 42};
    byte[] eight = {0, 0, 0, 0, 8, 42};

    task.see(sinkRecord("orders", Schema.BYTES_SCHEMA, seven));
    task.see(sinkRecord("orders", Schema.BYTES_SCHEMA, seven));
    task.see(sinkRecord("orders", Schema.BYTES_SCHEMA, eight));
    task.see(sinkRecord("plain", null, new byte[] {1}));

    assertThat(asked).containsExactly("orders 7", "orders 8", "plain null");
  }

  @Test
  void valuesThatBeginLikeAnIdAreNotAskedForWithoutEnd() {
    TaskObserver task = openedWithRegistry();

    for (int record = 0; record < 10_000; record++) {
      byte[] number = ByteBuffer.allocate(8).putInt(1, record % 5_000).array();
      task.see(sinkRecord("numbers", Schema.BYTES_SCHEMA, number));
    }

    assertThat(asked).hasSizeLessThanOrEqualTo(100).doesNotHaveDuplicates();
  }

  @Test
  void whatTheRegistryToldOfBytesStaysWhenCountersAreTold() {
    TaskObserver task = opened(0);
    task.see(sinkRecord("orders", Schema.BYTES_SCHEMA, new byte[] {0, 0, 0, 0, 7}));
    Shape registered =
        new Shape(
            Shape.Origin.REGISTRY,
            "Order",
            null,
            List.of(new FieldShape("id", "int64")),
            List.of(),
            new RegisteredVersion("orders-value", 1, 7, "AVRO"));
    run.seen("orders", registered);
    run.due();
    after(Duration.ofSeconds(30));

    assertThat(run.due().get(0).topics().get(0).shape()).isEqualTo(registered);
  }

  private TaskObserver openedWithRegistry() {
    TaskObserver task = new TaskObserver(0, run);
    run.opened(
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

  private TaskObserver opened(int number) {
    TaskObserver task = new TaskObserver(number, run);
    run.opened(task, settings);
    return task;
  }

  private void after(Duration time) {
    now = now.plus(time);
  }

  private static List<State> states(List<Told> told) {
    return told.stream().map(Told::state).toList();
  }

  private static SourceRecord sourceRecord(String topic, Schema schema) {
    return new SourceRecord(Map.of(), Map.of(), topic, schema, null);
  }

  private static SinkRecord sinkRecord(String topic, Schema schema, Object value) {
    return new SinkRecord(topic, 0, null, null, schema, value, 0);
  }
}
