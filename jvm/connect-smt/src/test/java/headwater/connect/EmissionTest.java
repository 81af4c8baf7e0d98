package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.signing.Chain;
import headwater.signing.Claim;
import headwater.signing.JsonReader;
import headwater.signing.NumberLiteral;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmissionTest {
  /** Records events, and returns configured outcomes. */
  private static final class Kept implements Transport {
    final List<byte[]> events = new ArrayList<>();
    final Deque<Delivery> outcomes = new ArrayDeque<>();

    @Override
    public synchronized Delivery send(String connector, byte[] event) {
      Delivery outcome = outcomes.isEmpty() ? Delivery.DONE : outcomes.removeFirst();
      if (outcome.outcome() == Outcome.ACKNOWLEDGED) {
        events.add(event);
      }
      return outcome;
    }

    @Override
    public void close() {}

    synchronized List<String> types() {
      return events.stream().map(event -> text(event, "eventType")).toList();
    }

    synchronized Map<?, ?> facets(int number) {
      Map<?, ?> run = (Map<?, ?>) ((Map<?, ?>) JsonReader.read(events.get(number))).get("run");
      return (Map<?, ?>) run.get("facets");
    }

    synchronized List<Map<?, ?>> places() {
      return IntStream.range(0, events.size())
          .<Map<?, ?>>mapToObj(number -> (Map<?, ?>) facets(number).get(Chain.FACET))
          .toList();
    }

    String payloadHash(int number) {
      return (String) ((Map<?, ?>) facets(number).get("signature")).get("payloadHash");
    }

    private static String text(byte[] event, String member) {
      return (String) ((Map<?, ?>) JsonReader.read(event)).get(member);
    }
  }

  /** RFC 8037, appendix A.1. */
  private static final String KEY =
      """
      {"kid":"node:n#sha256:If4x36FUomFia_hUBG_SJxt77UtqvkWqWId-9H-XIbk",
       "d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}
      """;

  private final Kept kept = new Kept();
  private final Outbox outbox = new Outbox(8);
  private final Emission emission =
      new Emission("test", kept, new RegistryReader(), "4.3.1", outbox);

  @AfterEach
  void stop() {
    emission.stop();
  }

  @Test
  void aConnectorsLifecycleIsReportedInOrder() {
    emission.start();
    TaskObserver task = emission.open("orders", 0, settings(Map.of()));
    task.observe(new SourceRecord(Map.of(), Map.of(), "orders", Schema.STRING_SCHEMA, "x"));
    task.close();

    eventually(() -> kept.types().size() == 3);
    assertThat(kept.types()).containsExactly("START", "RUNNING", "ABORT");
  }

  @Test
  void anUnavailableTargetIsRetriedAndARefusedEventIsNot() {
    kept.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    kept.outcomes.add(new Transport.Delivery(Transport.Outcome.REFUSED, "never"));
    emission.start();
    emission.open("orders", 0, settings(Map.of())).close();

    eventually(() -> kept.types().contains("ABORT"));
    assertThat(kept.types()).containsExactly("ABORT");
    assertThat(outbox.getlineage_events_refused_total()).isEqualTo(1);
  }

  @Test
  void aKeyThatCannotBeReadLeavesEventsUnsigned(@TempDir Path folder) {
    emission.start();
    emission
        .open("orders", 0, settings(Map.of("node.key", folder.resolve("none").toString())))
        .close();

    eventually(() -> kept.types().contains("ABORT"));
    Map<?, ?> run = (Map<?, ?>) ((Map<?, ?>) JsonReader.read(kept.events.get(0))).get("run");
    assertThat(((Map<?, ?>) run.get("facets")).containsKey("signature")).isFalse();
  }

  @Test
  void aKeyThatExistsWhenTheNextTaskStartsSignsFromThenOn(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("node.key");
    Settings settings = settings(Map.of("node.key", file.toString()));
    emission.start();
    emission.open("orders", 0, settings).close();
    eventually(() -> kept.types().contains("ABORT"));

    Files.writeString(file, KEY);
    emission.open("bids", 0, settings).close();
    eventually(() -> kept.types().size() == 4);

    assertThat(kept.events.stream().map(event -> new String(event).contains("\"signature\"")))
        .containsExactly(false, false, true, true);
  }

  @Test
  void signedEventsAreNumberedAndEachNamesTheOneBefore(@TempDir Path folder) throws IOException {
    kept.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    emission.start();
    emission.open("orders", 0, settings(signing(folder, false))).close();
    emission.open("bids", 0, settings(signing(folder, false))).close();
    eventually(() -> kept.types().size() == 4);

    List<Map<?, ?>> places = kept.places();
    assertThat(places.stream().map(place -> number(place, "sequence"))).containsExactly(0, 1, 2, 3);
    assertThat(places.get(0).get("previousHash")).isNull();
    assertThat(places.get(3).get("previousHash")).isEqualTo(kept.payloadHash(2));
    assertThat(places.stream().map(place -> place.get("epoch")).distinct()).hasSize(1);
    assertThat(places.stream().noneMatch(place -> place.containsKey("follows"))).isTrue();
  }

  @Test
  void aFolderLetsTheNextStartFollowTheOneBefore(@TempDir Path folder)
      throws IOException, InterruptedException {
    Kept later = new Kept();
    emission.start();
    emission.open("orders", 0, settings(signing(folder, true))).close();
    eventually(() -> kept.types().size() == 2);
    emission.stop();
    Emission next = new Emission("test", later, new RegistryReader(), "4.3.1", new Outbox(8));
    eventually(() -> isReleased(folder.resolve("chain")));

    next.start();
    next.open("orders", 0, settings(signing(folder, true))).close();
    eventually(() -> later.types().size() == 2);
    next.stop();

    Map<?, ?> head = (Map<?, ?>) ((List<?>) later.places().get(0).get("follows")).get(0);
    assertThat(head.get("epoch")).isEqualTo(kept.places().get(1).get("epoch"));
    assertThat(number(head, "sequence")).isEqualTo(1);
    assertThat(head.get("payloadHash")).isEqualTo(kept.payloadHash(1));
    assertThat(later.places().get(1).containsKey("follows")).isFalse();
  }

  @Test
  void droppedEventsTakeNoSequenceNumberAndAreReported(@TempDir Path folder) throws IOException {
    Map<String, String> signing = signing(folder, false);
    kept.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    emission.start();
    for (int connector = 0; connector < 6; connector++) {
      emission.open("orders-" + connector, 0, settings(signing)).close();
    }

    eventually(() -> kept.types().contains("RUNNING"));

    List<Map<?, ?>> places = kept.places();
    assertThat(places.stream().map(place -> number(place, "sequence")))
        .containsExactlyElementsOf(IntStream.range(0, places.size()).boxed().toList());
    Map<?, ?> beat = (Map<?, ?>) kept.facets(places.size() - 1).get("headwater_heartbeat");
    assertThat(number((Map<?, ?>) beat.get("gap"), "events") + places.size() - 1).isEqualTo(12);
  }

  @Test
  void whereAllIsRefusedTheReportsOfThatAreLimited(@TempDir Path folder) throws IOException {
    for (int times = 0; times < 100; times++) {
      kept.outcomes.add(new Transport.Delivery(Transport.Outcome.REFUSED, "never"));
    }
    emission.start();

    emission.open("orders", 0, settings(signing(folder, false))).close();

    eventually(() -> outbox.getlineage_events_refused_total() == 3 && outbox.isEmpty());
    assertThat(kept.outcomes).hasSize(97);
  }

  @Test
  void aFolderThatCannotBeWrittenOnlyPreventsTheChainsContinuation(@TempDir Path folder)
      throws IOException {
    Map<String, String> signing = signing(folder, true);
    Files.writeString(folder.resolve("chain"), "a file");
    emission.start();

    emission.open("orders", 0, settings(signing)).close();

    eventually(() -> kept.types().size() == 2);
    assertThat(number(kept.places().get(1), "sequence")).isEqualTo(1);
  }

  private static Map<String, String> signing(Path folder, boolean isKept) throws IOException {
    Path file = folder.resolve("node.key");
    if (Files.notExists(file)) { // the emission may be reading it
      Files.writeString(file, KEY);
    }
    return isKept
        ? Map.of("node.key", file.toString(), "chain.folder", folder.resolve("chain").toString())
        : Map.of("node.key", file.toString());
  }

  private static boolean isReleased(Path parent) {
    try {
      List<Claim> orphans = Claim.orphans(parent);
      for (Claim each : orphans) {
        each.release();
      }
      return !orphans.isEmpty();
    } catch (IOException unknown) {
      return false;
    }
  }

  private static int number(Map<?, ?> facet, String member) {
    return Integer.parseInt(((NumberLiteral) facet.get(member)).text());
  }

  @Test
  void drainingReportsTheEndOfRunsStillOpen() throws InterruptedException {
    emission.start();
    TaskObserver task = emission.open("orders", 0, settings(Map.of("restart.within", "1h")));
    task.close();

    emission.drain(Duration.ofSeconds(1), Duration.ofSeconds(10));

    assertThat(kept.types()).containsExactly("START", "ABORT");
  }

  @Test
  void drainingRetriesWaitingEventsOnce() throws InterruptedException {
    for (int times = 0; times < 3; times++) { // then it would wait for 4 s
      kept.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    }
    emission.start();
    emission.open("orders", 0, settings(Map.of())).close();
    eventually(() -> kept.outcomes.isEmpty());

    emission.drain(Duration.ofSeconds(1), Duration.ofSeconds(2));

    assertThat(kept.types()).containsExactly("START", "ABORT");
  }

  /** The metrics of a task whose connector another worker runs; counts the lookups. */
  private static final class Asked extends StandardMBean implements AskedMBean {
    final AtomicInteger times = new AtomicInteger();

    Asked() {
      super(AskedMBean.class, false);
    }

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException {
      times.incrementAndGet();
      throw new AttributeNotFoundException(name);
    }
  }

  /** An empty MBean. */
  public interface AskedMBean {}

  @Test
  void theWorkersMetricsAreNotReadForARunWithoutUpdates() throws JMException {
    Asked metrics = new Asked();
    ObjectName name = new ObjectName("kafka.connect:type=connector-metrics,connector=silent");
    ManagementFactory.getPlatformMBeanServer().registerMBean(metrics, name);
    try {
      emission.start();
      emission.open("silent", 0, settings(Map.of()));
      eventually(() -> kept.types().size() == 1);
      int asked = metrics.times.get();

      for (int other = 1; other <= 5; other++) {
        int events = 1 + 2 * other;
        emission.open("other-" + other, 0, settings(Map.of())).close();
        eventually(() -> kept.types().size() == events);
      }

      assertThat(metrics.times).hasValue(asked);
    } finally {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
    }
  }

  private static Settings settings(Map<String, String> more) {
    Map<String, String> all =
        new HashMap<>(Map.of("bootstrap.servers", "b:9092", "restart.within", "0"));
    all.putAll(more);
    return Settings.read(all, Map.of(), name -> null, warning -> {});
  }

  static void eventually(BooleanSupplier isSo) {
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!isSo.getAsBoolean() && System.nanoTime() < end) {
      Thread.onSpinWait();
      try {
        Thread.sleep(10);
      } catch (InterruptedException ended) {
        throw new IllegalStateException(ended);
      }
    }
    assertThat(isSo.getAsBoolean()).isTrue();
  }
}
