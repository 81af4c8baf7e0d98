package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.signing.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmissionTest {
  /** Keeps what it is given, and ends deliveries as it was told. */
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

    private static String text(byte[] event, String member) {
      return (String) ((Map<?, ?>) JsonReader.read(event)).get(member);
    }
  }

  private final Kept kept = new Kept();
  private final Outbox outbox = new Outbox(8);
  private final Emission emission =
      new Emission("test", kept, new RegistryReader(), "4.3.1", outbox);

  @AfterEach
  void stop() {
    emission.stop();
  }

  @Test
  void aConnectorsLifeIsToldInOrder() {
    emission.start();
    TaskObserver task = emission.open("orders", 0, settings(Map.of()));
    task.see(new SourceRecord(Map.of(), Map.of(), "orders", Schema.STRING_SCHEMA, "x"));
    task.close();

    eventually(() -> kept.types().size() == 3);
    assertThat(kept.types()).containsExactly("START", "RUNNING", "ABORT");
  }

  @Test
  void whatIsNotTakenNowIsSentAgainAndWhatIsRefusedIsNot() {
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
  void aKeyThatIsThereWhenTheNextTaskStartsSignsFromThenOn(@TempDir Path folder)
      throws IOException {
    Path file = folder.resolve("node.key");
    Settings settings = settings(Map.of("node.key", file.toString()));
    emission.start();
    emission.open("orders", 0, settings).close();
    eventually(() -> kept.types().contains("ABORT"));

    // RFC 8037, appendix A.1.
    Files.writeString(
        file,
        """
        {"kid":"node:n#sha256:If4x36FUomFia_hUBG_SJxt77UtqvkWqWId-9H-XIbk",
         "d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}
        """);
    emission.open("bids", 0, settings).close();
    eventually(() -> kept.types().size() == 4);

    assertThat(kept.events.stream().map(event -> new String(event).contains("\"signature\"")))
        .containsExactly(false, false, true, true);
  }

  @Test
  void drainingTellsTheEndOfWhatStillRuns() throws InterruptedException {
    emission.start();
    TaskObserver task = emission.open("orders", 0, settings(Map.of("restart.within", "1h")));
    task.close();

    emission.drain(Duration.ofSeconds(1), Duration.ofSeconds(10));

    assertThat(kept.types()).containsExactly("START", "ABORT");
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
