package headwater.signing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The vectors shared by all implementations, and behaviour that they do not cover. */
public class ChainTest {
  private static final Map<?, ?> VECTORS = read(Path.of("..", "..", "conformance", "chain.json"));

  @TempDir Path folder;

  @TestFactory
  Stream<DynamicTest> eventsAreSignedAsInTheVectors() {
    return ((List<?>) VECTORS.get("vectors"))
        .stream()
            .map(one -> (Map<?, ?>) one)
            .map(vector -> dynamicTest((String) vector.get("id"), () -> assertSignedAsIn(vector)));
  }

  private static void assertSignedAsIn(Map<?, ?> vector) {
    Map<String, Object> event = object(JsonReader.read(utf8((String) vector.get("event"))));
    Map<String, Object> facets = Map.of(Chain.FACET, vector.get("facet"));

    EventSigner.Signed signed = EventSigner.sign(event, facets, key(), EventSigner.SCHEMA);

    assertThat(new String(signed.event(), StandardCharsets.UTF_8))
        .isEqualTo(vector.get("signedEvent"));
    assertThat(signed.payloadHash()).isEqualTo(vector.get("payloadHash"));
  }

  @Test
  void theFirstEventOfAnEpochIsThatOfTheFirstVector() {
    Map<?, ?> vector = (Map<?, ?>) ((List<?>) VECTORS.get("vectors")).get(0);
    Chain chain = new Chain(key(), "018f0000-0000-7000-8000-000000000001");

    byte[] signed = chain.sign(utf8((String) vector.get("event")));

    assertThat(new String(signed, StandardCharsets.UTF_8)).isEqualTo(vector.get("signedEvent"));
  }

  @Test
  void aHeadIsReadAsItWasWritten() throws IOException {
    Chain chain = new Chain(key(), "018f0000-0000-7000-8000-000000000001");
    Map<?, ?> vector = (Map<?, ?>) ((List<?>) VECTORS.get("vectors")).get(0);

    assertThat(Chain.readHead(folder)).isNull();
    chain.sign(utf8((String) vector.get("event")));
    chain.writeHead(folder);

    assertThat(Chain.readHead(folder))
        .isEqualTo(new Chain.Head(chain.epoch(), 0, (String) vector.get("payloadHash")));
  }

  @Test
  void anEventWithoutARunIsVouchedForByTheNext() {
    byte[] dataset = utf8("{\"dataset\":{\"name\":\"t\",\"namespace\":\"lake\"}}");
    Chain chain = new Chain(key(), "018f0000-0000-7000-8000-000000000001");

    byte[] unsigned = chain.sign(dataset);
    byte[] signed = chain.sign(utf8("{\"producer\":\"p\",\"run\":{\"runId\":\"r\"}}"));

    assertThat(unsigned).isSameAs(dataset);
    assertThat(facet(signed).get("unsigned")).isEqualTo(List.of(EventSigner.payloadHash(dataset)));
  }

  public static Map<?, ?> facet(byte[] event) {
    return facet((Map<?, ?>) JsonReader.read(event));
  }

  public static Map<?, ?> facet(Map<?, ?> event) {
    Map<?, ?> run = (Map<?, ?>) event.get("run");
    return (Map<?, ?>) ((Map<?, ?>) run.get("facets")).get(Chain.FACET);
  }

  private static NodeKey key() {
    byte[] seed = HexFormat.of().parseHex((String) VECTORS.get("privateSeedHex"));
    return NodeKey.fromSeed((String) VECTORS.get("nodeId"), seed);
  }

  private static Map<?, ?> read(Path path) {
    try {
      return (Map<?, ?>) JsonReader.read(Files.readAllBytes(path));
    } catch (IOException missing) {
      throw new IllegalStateException(missing);
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
