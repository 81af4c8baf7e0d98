package headwater.openlineage;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.signing.ChainTest;
import headwater.signing.NumberLiteral;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Events through the queue, the chain, the spool and a real HTTP server. */
@Timeout(60)
class EmissionTest {
  @TempDir Path folder;

  private Service service;

  @BeforeEach
  void start() throws IOException {
    service = new Service();
    Keys.home(folder);
  }

  @AfterEach
  void stop() {
    service.close();
  }

  @Test
  void eventsArriveSignedAndNumberedInTheOrderOfThePuts() {
    Emission emission = emission(64);

    IntStream.range(0, 50).forEach(number -> emission.put(event("job-" + number)));
    emission.flush();

    assertThat(jobs())
        .containsExactlyElementsOf(IntStream.range(0, 50).mapToObj(n -> "job-" + n).toList());
    assertThat(sequences()).containsExactlyElementsOf(IntStream.range(0, 50).boxed().toList());
    Map<?, ?> run = (Map<?, ?>) service.events().get(0).get("run");
    Map<?, ?> signature = (Map<?, ?>) ((Map<?, ?>) run.get("facets")).get("signature");
    assertThat(signature.get("keyId")).isEqualTo(Keys.ID);
  }

  @Test
  void eventsWaitWhileTheServiceIsUnavailable() throws InterruptedException {
    service.status = 503;
    Emission emission = emission(64);
    emission.put(event("early"));
    emission.put(event("late"));

    service.status = 201;
    emission.flush();

    assertThat(jobs()).containsExactly("early", "late");
  }

  @Test
  void theNextEmissionDeliversWhatIsLeftOnDiskAndNamesThatEpochsHead() throws IOException {
    service.status = 503;
    Emission before = emission(64, 50);
    before.put(event("one"));
    before.put(event("two"));
    before.close();

    service.status = 201;
    Emission after = emission(64);
    after.put(event("three"));
    after.flush();

    assertThat(jobs()).containsExactly("one", "two", "three");
    Map<?, ?> last = ChainTest.facet(service.events().get(1));
    List<?> follows = (List<?>) ChainTest.facet(service.events().get(2)).get("follows");
    assertThat(follows)
        .singleElement()
        .satisfies(
            head -> {
              assertThat(((Map<?, ?>) head).get("epoch")).isEqualTo(last.get("epoch"));
              assertThat(((Map<?, ?>) head).get("sequence")).isEqualTo(last.get("sequence"));
            });
  }

  @Test
  void eventsLeftForAnotherServiceWaitForIt() throws IOException {
    service.status = 503;
    Emission before = emission(64, 50);
    before.put(event("for the first"));
    before.close();

    try (Service another = new Service()) {
      Emission elsewhere = emission(another.url(), 64, 20_000);
      elsewhere.put(event("for the other"));
      elsewhere.close();
      service.status = 201;
      emission(64).flush();

      assertThat(jobs(another)).containsExactly("for the other");
      assertThat(jobs()).containsExactly("for the first");
    }
  }

  @Test
  void eventsWithoutRoomAreDroppedAndCounted() {
    Emission emission = emission(0, 50);
    emission.put(event("no room"));
    emission.close();

    // The gap record had no room either, and does not count as a dropped event.
    assertThat(emission.dropped()).isEqualTo(1);
    assertThat(service.events()).isEmpty();
  }

  @Test
  void anEventDeletedFromTheSpoolBlocksNoOther() throws IOException {
    service.status = 503;
    Emission emission = emission(64, 500);
    emission.put(event("one"));
    emission.put(event("two"));
    emission.flush();

    Files.delete(spoolFolder().resolve("000000000000.json"));
    service.status = 201;
    emission.put(event("three"));
    emission.close();

    assertThat(jobs()).startsWith("two", "three");
    assertThat(emission.dropped()).isEqualTo(1);
  }

  @Test
  void anEventThatCannotBeDeletedBlocksNoOther() {
    service.afterPost = () -> makeUndeletable("000000000000.json");
    Emission emission = emission(64);

    emission.put(event("one"));
    emission.put(event("two"));
    emission.close();

    assertThat(jobs()).containsExactly("one", "two");
    assertThat(emission.dropped()).isZero();
  }

  /** Replaces the event's file by a folder that is not empty, so that it cannot be deleted. */
  private void makeUndeletable(String event) {
    try {
      Path file = spoolFolder().resolve(event);
      if (Files.deleteIfExists(file)) {
        Files.createDirectories(file.resolve("in the way"));
      }
    } catch (DirectoryNotEmptyException done) {
      // It exists already.
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Test
  void aDiskThatFailsForAWhileLeavesNoGapInTheChain() throws IOException {
    Emission emission = emission(64);
    Path obstacle = Files.createDirectory(spoolFolder().resolve("unfinished"));
    emission.put(event("held"));
    emission.put(event("dropped"));
    emission.flush();

    Files.delete(obstacle);
    emission.put(event("taken"));
    emission.flush();

    assertThat(jobs()).startsWith("held", "taken");
    assertThat(sequences()).startsWith(0, 1);
    assertThat(emission.dropped()).isEqualTo(1);
  }

  /** The folder of the only emission. */
  private Path spoolFolder() throws IOException {
    return onlyIn(onlyIn(folder.resolve("openlineage")));
  }

  private static Path onlyIn(Path parent) throws IOException {
    try (Stream<Path> found = Files.list(parent)) {
      return found.findFirst().orElseThrow();
    }
  }

  @Test
  void aGapIsReportedInTheNodesOwnJobOnceThereIsRoom() {
    Emission emission = emission(64);
    emission.drop("queue full");
    emission.close();

    Map<?, ?> event = service.events().get(0);
    Map<?, ?> run = (Map<?, ?>) event.get("run");
    Map<?, ?> beat = (Map<?, ?>) ((Map<?, ?>) run.get("facets")).get("headwater_heartbeat");
    assertThat(((Map<?, ?>) beat.get("gap")).get("reasons").toString()).contains("queue full");
    assertThat(ChainTest.facet(event).get("epoch")).isEqualTo(run.get("runId"));
    assertThat(service.events()).last().extracting("eventType").isEqualTo("COMPLETE");
  }

  private Emission emission(long spoolMb) {
    return emission(spoolMb, 20_000);
  }

  private Emission emission(long spoolMb, long drainTimeoutMs) {
    return emission(service.url(), spoolMb, drainTimeoutMs);
  }

  private Emission emission(String url, long spoolMb, long drainTimeoutMs) {
    HeadwaterConfig config = new HeadwaterConfig();
    config.setUrl(url);
    config.setHome(folder.toString());
    config.setSpoolMb(spoolMb);
    config.setDrainTimeoutMs(drainTimeoutMs);
    return new Emission(config, Map.<String, String>of()::get);
  }

  private List<String> jobs() {
    return jobs(service);
  }

  private static List<String> jobs(Service service) {
    return service.events().stream()
        .map(event -> (String) ((Map<?, ?>) event.get("job")).get("name"))
        .toList();
  }

  private List<Integer> sequences() {
    return service.events().stream()
        .map(event -> ChainTest.facet(event).get("sequence"))
        .filter(Objects::nonNull)
        .map(number -> Integer.valueOf(((NumberLiteral) number).text()))
        .toList();
  }

  private static String event(String job) {
    return "{\"eventType\":\"START\",\"eventTime\":\"2026-05-22T14:23:11Z\",\"producer\":\"p\","
        + "\"run\":{\"runId\":\"0198f7d0-1111-7222-8333-444455556666\"},"
        + "\"job\":{\"namespace\":\"n\",\"name\":\""
        + job
        + "\"}}";
  }
}
