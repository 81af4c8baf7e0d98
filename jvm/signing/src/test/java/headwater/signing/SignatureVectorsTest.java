package headwater.signing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The vectors shared by all implementations: the project's own, and those shared beyond it. */
class SignatureVectorsTest {
  private static final Path PROJECT = Path.of("..", "..").toAbsolutePath().normalize();

  /** These are valid JSON, but not signed events. */
  private static final Set<String> JSON_BUT_NOT_AN_EVENT =
      Set.of("no-object", "run-is-a-string", "facets-are-a-string");

  @TestFactory
  Stream<DynamicTest> theProjectsVectorsAreSignedAlike() throws IOException {
    return signed(PROJECT.resolve("conformance/signature.json"));
  }

  @TestFactory
  Stream<DynamicTest> theSharedVectorsAreSignedAlike() throws IOException {
    String configured = System.getenv("HEADWATER_SHARED");
    Path shared = configured == null ? PROJECT.resolveSibling("shared") : Path.of(configured);
    Path vectors = shared.resolve("conformance/signature.json");
    assumeTrue(Files.exists(vectors), "no shared vectors: set HEADWATER_SHARED to their folder");
    return signed(vectors);
  }

  @TestFactory
  Stream<DynamicTest> invalidJsonIsRefused() throws IOException {
    return objects(PROJECT.resolve("conformance/signature.json"), "negative")
        .filter(vector -> "malformed".equals(vector.get("expect")))
        .filter(vector -> !JSON_BUT_NOT_AN_EVENT.contains(text(vector, "id")))
        .map(
            vector ->
                dynamicTest(
                    text(vector, "id"),
                    () ->
                        assertThatThrownBy(() -> JsonReader.read(bytes(vector)))
                            .isInstanceOf(InvalidJsonException.class)));
  }

  private static Stream<DynamicTest> signed(Path vectors) throws IOException {
    return objects(vectors, "vectors")
        .map(vector -> dynamicTest(text(vector, "id"), () -> assertSignedAsIn(vector)));
  }

  private static void assertSignedAsIn(Map<?, ?> vector) {
    byte[] expected = utf8(text(vector, "signedEvent"));
    Map<?, ?> facet = facetOf(expected);
    String keyId = text(facet, "keyId");
    NodeKey key =
        NodeKey.fromSeed(
            keyId.substring("node:".length(), keyId.indexOf('#')),
            HexFormat.of().parseHex(text(vector, "privateSeedHex")));

    byte[] signed =
        EventSigner.sign(
            object(JsonReader.read(utf8(text(vector, "event")))), key, text(facet, "_schemaURL"));

    // The facet contains hash and signature of the canonical bytes: if one were wrong, these would
    // differ.
    assertThat(signed).isEqualTo(CanonicalJson.write(JsonReader.read(expected)));
    assertThat(HexFormat.of().formatHex(key.publicKey())).isEqualTo(text(vector, "publicKeyHex"));
    assertThat(key.keyId()).isEqualTo(keyId);
  }

  private static Map<?, ?> facetOf(byte[] event) {
    Map<?, ?> run = (Map<?, ?>) object(JsonReader.read(event)).get("run");
    return (Map<?, ?>) ((Map<?, ?>) run.get("facets")).get("signature");
  }

  private static Stream<Map<?, ?>> objects(Path file, String member) throws IOException {
    Map<?, ?> all = (Map<?, ?>) JsonReader.read(Files.readAllBytes(file));
    return ((List<?>) all.get(member)).stream().map(one -> (Map<?, ?>) one);
  }

  private static byte[] bytes(Map<?, ?> vector) {
    return vector.containsKey("eventHex")
        ? HexFormat.of().parseHex(text(vector, "eventHex"))
        : utf8(text(vector, "event"));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }

  private static String text(Map<?, ?> vector, String member) {
    return (String) vector.get(member);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
