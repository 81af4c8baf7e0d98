package headwater.signing;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Signs run events: the facet `signature` of the run, over the canonical form of the event without
 * it.
 */
public final class EventSigner {
  /** Where the facet is described. */
  public static final String SCHEMA =
      "https://headwater.dev/spec/facets/1-0-0/SignatureRunFacet.json";

  private static final String FACET = "signature";

  private EventSigner() {}

  /**
   * Returns the event in canonical form with its signature, in place of any other; the event itself
   * is not changed.
   */
  public static byte[] sign(Map<String, Object> event, NodeKey key, String schemaUrl) {
    Map<String, Object> run = copyOf(event.get("run"));
    Map<String, Object> facets =
        run.get("facets") == null ? new LinkedHashMap<>() : copyOf(run.get("facets"));
    facets.remove(FACET);
    run.put("facets", facets);
    Map<String, Object> signed = new LinkedHashMap<>(event);
    signed.put("run", run);

    byte[] payload = CanonicalJson.write(signed);
    facets.put(FACET, facet(payload, (String) event.get("producer"), key, schemaUrl));
    return CanonicalJson.write(signed);
  }

  private static Map<String, Object> facet(
      byte[] payload, String producer, NodeKey key, String schemaUrl) {
    return Map.of(
        "_producer",
        producer,
        "_schemaURL",
        schemaUrl,
        "algorithm",
        "Ed25519",
        "keyId",
        key.keyId(),
        "payloadHash",
        "sha256:" + HexFormat.of().formatHex(sha256(payload)),
        "signature",
        Base64.getEncoder().encodeToString(key.sign(payload)));
  }

  private static byte[] sha256(byte[] payload) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(payload);
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("this Java has no SHA-256", missing);
    }
  }

  private static Map<String, Object> copyOf(Object members) {
    Map<String, Object> copy = new LinkedHashMap<>();
    ((Map<?, ?>) members).forEach((key, value) -> copy.put((String) key, value));
    return copy;
  }
}
