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
  private static final class RecordingTransport implements Transport {
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

    synchronized List<Map<?, ?>> links() {
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

  private final RecordingTransport transport = new RecordingTransport();
  private final Outbox outbox = new Outbox(8);
  private final Emission emission =
      new Emission("test", transport, new RegistryReader(), "4.3.1", outbox);

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

    eventually(() -> transport.types().size() == 3);
    assertThat(transport.types()).containsExactly("START", "RUNNING", "ABORT");
  }

  @Test
  void anUnavailableTargetIsRetriedAndARefusedEventIsNot() {
    transport.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    transport.outcomes.add(new Transport.Delivery(Transport.Outcome.REFUSED, "never"));
    emission.start();
    emission.open("orders", 0, settings(Map.of())).close();

    eventually(() -> transport.types().contains("ABORT"));
    assertThat(transport.types()).containsExactly("ABORT");
    assertThat(outbox.getlineage_events_refused_total()).isEqualTo(1);
  }

  @Test
  void aKeyThatCannotBeReadLeavesEventsUnsigned(@TempDir Path folder) {
    emission.start();
    emission
        .open("orders", 0, settings(Map.of("node.key", folder.resolve("none").toString())))
        .close();

    eventually(() -> transport.types().contains("ABORT"));
    Map<?, ?> run = (Map<?, ?>) ((Map<?, ?>) JsonReader.read(transport.events.get(0))).get("run");
    assertThat(((Map<?, ?>) run.get("facets")).containsKey("signature")).isFalse();
  }

  @Test
  void aKeyThatExistsWhenTheNextTaskStartsSignsFromThenOn(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("node.key");
    Settings settings = settings(Map.of("node.key", file.toString()));
    emission.start();
    emission.open("orders", 0, settings).close();
    eventually(() -> transport.types().contains("ABORT"));

    Files.writeString(file, KEY);
    emission.open("bids", 0, settings).close();
    eventually(() -> transport.types().size() == 4);

    assertThat(transport.events.stream().map(event -> new String(event).contains("\"signature\"")))
        .containsExactly(false, false, true, true);
  }

  @Test
  void signedEventsAreNumberedAndEachNamesTheOneBefore(@TempDir Path folder) throws IOException {
    transport.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    emission.start();
    emission.open("orders", 0, settings(signing(folder, false))).close();
    emission.open("bids", 0, settings(signing(folder, false))).close();
    eventually(() -> transport.types().size() == 4);

    List<Map<?, ?>> links = transport.links();
    assertThat(links.stream().map(link -> number(link, "sequence"))).containsExactly(0, 1, 2, 3);
    assertThat(links.get(0).get("previousHash")).isNull();
    assertThat(links.get(3).get("previousHash")).isEqualTo(transport.payloadHash(2));
    assertThat(links.stream().map(link -> link.get("epoch")).distinct()).hasSize(1);
    assertThat(links.stream().noneMatch(link -> link.containsKey("follows"))).isTrue();
  }

  @Test
  void aFolderLetsTheNextStartFollowTheOneBefore(@TempDir Path folder)
      throws IOException, InterruptedException {
    RecordingTransport later = new RecordingTransport();
    emission.start();
    emission.open("orders", 0, settings(signing(folder, true))).close();
    eventually(() -> transport.types().size() == 2);
    emission.stop();
    Emission next = new Emission("test", later, new RegistryReader(), "4.3.1", new Outbox(8));
    eventually(() -> isReleased(folder.resolve("chain")));

    next.start();
    next.open("orders", 0, settings(signing(folder, true))).close();
    eventually(() -> later.types().size() == 2);
    next.stop();

    Map<?, ?> head = (Map<?, ?>) ((List<?>) later.links().get(0).get("follows")).get(0);
    assertThat(head.get("epoch")).isEqualTo(transport.links().get(1).get("epoch"));
    assertThat(number(head, "sequence")).isEqualTo(1);
    assertThat(head.get("payloadHash")).isEqualTo(transport.payloadHash(1));
    assertThat(later.links().get(1).containsKey("follows")).isFalse();
  }

  @Test
  void droppedEventsTakeNoSequenceNumberAndAreReported(@TempDir Path folder) throws IOException {
    Map<String, String> signing = signing(folder, false);
    transport.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    emission.start();
    for (int connector = 0; connector < 6; connector++) {
      emission.open("orders-" + connector, 0, settings(signing)).close();
    }

    eventually(() -> transport.types().contains("RUNNING"));

    List<Map<?, ?>> links = transport.links();
    assertThat(links.stream().map(link -> number(link, "sequence")))
        .containsExactlyElementsOf(IntStream.range(0, links.size()).boxed().toList());
    Map<?, ?> heartbeat = (Map<?, ?>) transport.facets(links.size() - 1).get("headwater_heartbeat");
    assertThat(number((Map<?, ?>) heartbeat.get("gap"), "events") + links.size() - 1).isEqualTo(12);
  }

  @Test
  void whereAllIsRefusedTheReportsOfThatAreLimited(@TempDir Path folder) throws IOException {
    for (int attempt = 0; attempt < 100; attempt++) {
      transport.outcomes.add(new Transport.Delivery(Transport.Outcome.REFUSED, "never"));
    }
    emission.start();

    emission.open("orders", 0, settings(signing(folder, false))).close();

    eventually(() -> outbox.getlineage_events_refused_total() == 3 && outbox.isEmpty());
    assertThat(transport.outcomes).hasSize(97);
  }

  @Test
  void aFolderThatCannotBeWrittenOnlyPreventsTheChainsContinuation(@TempDir Path folder)
      throws IOException {
    Map<String, String> signing = signing(folder, true);
    Files.writeString(folder.resolve("chain"), "a file");
    emission.start();

    emission.open("orders", 0, settings(signing)).close();

    eventually(() -> transport.types().size() == 2);
    assertThat(number(transport.links().get(1), "sequence")).isEqualTo(1);
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

    assertThat(transport.types()).containsExactly("START", "ABORT");
  }

  @Test
  void drainingRetriesWaitingEventsOnce() throws InterruptedException {
    for (int attempt = 0; attempt < 3; attempt++) { // then it would wait for 4 s
      transport.outcomes.add(new Transport.Delivery(Transport.Outcome.UNAVAILABLE, "down"));
    }
    emission.start();
    emission.open("orders", 0, settings(Map.of())).close();
    eventually(() -> transport.outcomes.isEmpty());

    emission.drain(Duration.ofSeconds(1), Duration.ofSeconds(2));

    assertThat(transport.types()).containsExactly("START", "ABORT");
  }

  /** The metrics of a task whose connector another worker runs; counts the lookups. */
  private static final class LookupCounter extends StandardMBean implements LookupCounterMBean {
    final AtomicInteger lookups = new AtomicInteger();

    LookupCounter() {
      super(LookupCounterMBean.class, false);
    }

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException {
      lookups.incrementAndGet();
      throw new AttributeNotFoundException(name);
    }
  }

  /** An empty MBean. */
  public interface LookupCounterMBean {}

  @Test
  void theWorkersMetricsAreNotReadForARunWithoutUpdates() throws JMException {
    LookupCounter metrics = new LookupCounter();
    ObjectName name = new ObjectName("kafka.connect:type=connector-metrics,connector=silent");
    ManagementFactory.getPlatformMBeanServer().registerMBean(metrics, name);
    try {
      emission.start();
      emission.open("silent", 0, settings(Map.of()));
      eventually(() -> transport.types().size() == 1);
      int lookupsBefore = metrics.lookups.get();

      for (int other = 1; other <= 5; other++) {
        int events = 1 + 2 * other;
        emission.open("other-" + other, 0, settings(Map.of())).close();
        eventually(() -> transport.types().size() == events);
      }

      assertThat(metrics.lookups).hasValue(lookupsBefore);
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

  static void eventually(BooleanSupplier condition) {
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean() && System.nanoTime() < end) {
      Thread.onSpinWait();
      try {
        Thread.sleep(10);
      } catch (InterruptedException ended) {
        throw new IllegalStateException(ended);
      }
    }
    assertThat(condition.getAsBoolean()).isTrue();
  }
}
