package headwater.signing;

import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Signs run events: adds the run facet `signature`, over the canonical form of the event without
 * it.
 */
public final class EventSigner {
  /** A signed event in canonical form, and the payload hash in its signature. */
  public record Signed(byte[] event, String payloadHash) {}

  /** The facet's schema. */
  public static final String SCHEMA =
      "https://headwater.dev/spec/facets/1-0-0/SignatureRunFacet.json";

  private static final String FACET = "signature";

  private EventSigner() {}

  /**
   * Returns the event in canonical form with its signature, which replaces any other. The argument
   * is not changed.
   */
  public static byte[] sign(Map<String, Object> event, NodeKey key, String schemaUrl) {
    return sign(event, Map.of(), key, schemaUrl).event();
  }

  /** Adds run facets to an event, replacing those of the same names, and signs it. */
  public static Signed sign(
      Map<String, Object> event, Map<String, ?> runFacets, NodeKey key, String schemaUrl) {
    Map<String, Object> run = copyOf(event.get("run"));
    Map<String, Object> facets =
        run.get("facets") == null ? new LinkedHashMap<>() : copyOf(run.get("facets"));
    facets.remove(FACET);
    facets.putAll(runFacets);
    run.put("facets", facets);
    Map<String, Object> signed = new LinkedHashMap<>(event);
    signed.put("run", run);

    byte[] payload = CanonicalJson.write(signed);
    String hash = payloadHash(payload);
    facets.put(FACET, facet(payload, hash, (String) event.get("producer"), key, schemaUrl));
    return new Signed(CanonicalJson.write(signed), hash);
  }

  /** `sha256:` and the hash of these bytes in hexadecimal. */
  public static String payloadHash(byte[] payload) {
    return "sha256:" + HexFormat.of().formatHex(Sha256.of(payload));
  }

  private static Map<String, Object> facet(
      byte[] payload, String hash, String producer, NodeKey key, String schemaUrl) {
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
        hash,
        "signature",
        Base64.getEncoder().encodeToString(key.sign(payload)));
  }

  private static Map<String, Object> copyOf(Object members) {
    Map<String, Object> copy = new LinkedHashMap<>();
    ((Map<?, ?>) members).forEach((key, value) -> copy.put((String) key, value));
    return copy;
  }
}
