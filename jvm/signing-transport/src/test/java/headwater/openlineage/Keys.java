package headwater.openlineage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A home with a key as `headwater key show` writes it: the test key of RFC 8032, section 7.1. */
final class Keys {
  static final String ID = "node:edge-1#sha256:If4x36FUomFia_hUBG_SJxt77UtqvkWqWId-9H-XIbk";

  private Keys() {}

  static Path home(Path folder) throws IOException {
    Path keys = Files.createDirectories(folder.resolve("keys"));
    Files.writeString(
        keys.resolve("node.key"),
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\""
            + ID
            + "\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\","
            + "\"d\":\"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A\"}");
    return folder;
  }
}
