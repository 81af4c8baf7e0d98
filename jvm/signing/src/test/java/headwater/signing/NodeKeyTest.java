package headwater.signing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeKeyTest {
  /** RFC 8037, appendix A.1: a private key, and in A.2 its public part. */
  private static final String SEED = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

  private static final String PUBLIC =
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

  /** Those 32 bytes through `openssl dgst -sha256 -binary | basenc --base64url`. */
  private static final String KEY_ID =
      "node:edge-7#sha256:If4x36FUomFia_hUBG_SJxt77UtqvkWqWId-9H-XIbk";

  @TempDir Path folder;

  @Test
  void aKeyFileOfThePythonPackageIsRead() throws IOException {
    NodeKey key = NodeKey.read(file(jwk(KEY_ID, SEED)));

    assertThat(key.keyId()).isEqualTo(KEY_ID);
    assertThat(HexFormat.of().formatHex(key.publicKey())).isEqualTo(PUBLIC);
  }

  @Test
  void aKeyIdThatDoesNotMatchTheKeyIsRefused() throws IOException {
    Path other = file(jwk("node:edge-7#sha256:AAAA", SEED));

    assertThatThrownBy(() -> NodeKey.read(other)).isInstanceOf(IOException.class);
  }

  @Test
  void errorsNameTheFileWithoutShowingTheKey() throws IOException {
    Path damaged = file(jwk(KEY_ID, SEED + "!!"));

    assertThatThrownBy(() -> NodeKey.read(damaged))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(damaged.toString())
        .hasMessageNotContaining(SEED)
        .hasNoCause();
  }

  @Test
  void toStringShowsOnlyTheKeyId() throws IOException {
    assertThat(NodeKey.read(file(jwk(KEY_ID, SEED)))).hasToString("NodeKey[" + KEY_ID + "]");
  }

  private static String jwk(String kid, String seed) {
    return """
        {"kty":"OKP","crv":"Ed25519","kid":"%s","d":"%s"}
        """
        .formatted(kid, seed);
  }

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("node.key"), text);
  }
}
