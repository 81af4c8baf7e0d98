package headwater.openlineage;

import headwater.signing.Sha256;
import io.openlineage.client.transports.TransportConfig;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The settings `transport.*`. A bean without annotations: each listener bundles its own relocated
 * JSON library.
 */
public final class HeadwaterConfig implements TransportConfig {
  private static final long LEAST_HEARTBEAT_MS = 1000; // events state it in seconds
  private static final int NAME_BYTES = 8;

  private String url = "http://localhost:5000/api/v1/lineage";
  private String home;
  private String tokenEnv;
  private int queueSize = 1024;
  private long spoolMb = 64;
  private long drainTimeoutMs = 5000;
  private long heartbeatMs = 300_000;

  /** Where events are posted. */
  public String getUrl() {
    return url;
  }

  public void setUrl(String url) {
    this.url = url;
  }

  /** The folder with the node's key and the spool; else `HEADWATER_HOME`, else `~/.headwater`. */
  public String getHome() {
    return home;
  }

  public void setHome(String home) {
    this.home = home;
  }

  /** The environment variable with a bearer token. */
  public String getTokenEnv() {
    return tokenEnv;
  }

  public void setTokenEnv(String tokenEnv) {
    this.tokenEnv = tokenEnv;
  }

  /** The limit of events waiting to be signed; further ones are dropped and counted. */
  public int getQueueSize() {
    return queueSize;
  }

  public void setQueueSize(int queueSize) {
    this.queueSize = queueSize;
  }

  /** The limit of events waiting on disk, in MiB; further ones are dropped and counted. */
  public long getSpoolMb() {
    return spoolMb;
  }

  public void setSpoolMb(long spoolMb) {
    this.spoolMb = spoolMb;
  }

  /** How long the program's end waits for deliveries; the next process delivers the rest. */
  public long getDrainTimeoutMs() {
    return drainTimeoutMs;
  }

  public void setDrainTimeoutMs(long drainTimeoutMs) {
    this.drainTimeoutMs = drainTimeoutMs;
  }

  /** After this long without an event, the node sends a heartbeat. */
  public long getHeartbeatMs() {
    return heartbeatMs;
  }

  public void setHeartbeatMs(long heartbeatMs) {
    this.heartbeatMs = heartbeatMs;
  }

  /**
   * Validates all settings.
   *
   * @throws IllegalArgumentException if one is invalid; the message names it without its value
   */
  void check() {
    endpoint();
    check(queueSize >= 1, "queueSize: expected 1 or more");
    check(spoolMb >= 0, "spoolMb: expected 0 or more");
    check(drainTimeoutMs >= 0, "drainTimeoutMs: expected 0 or more");
    check(
        heartbeatMs >= LEAST_HEARTBEAT_MS,
        "heartbeatMs: expected " + LEAST_HEARTBEAT_MS + " or more");
  }

  private static void check(boolean isValid, String message) {
    if (!isValid) {
      throw new IllegalArgumentException(message);
    }
  }

  /**
   * Where events are posted.
   *
   * @throws IllegalArgumentException as {@link #check}
   */
  URI endpoint() {
    try {
      URI endpoint = URI.create(url == null ? "" : url.strip());
      String scheme = endpoint.getScheme();
      if (endpoint.getHost() != null
          && ("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))) {
        return endpoint;
      }
    } catch (IllegalArgumentException malformed) {
      // Its message contains the URL, and so possibly a password.
    }
    throw new IllegalArgumentException("url: expected http://HOST/PATH or https://HOST/PATH");
  }

  /** The folder of events waiting for this service; each service has its own. */
  Path spool() {
    byte[] target = Sha256.of(endpoint().toString().getBytes(StandardCharsets.UTF_8));
    String name = "http-" + HexFormat.of().formatHex(target, 0, NAME_BYTES);
    return folder().resolve("openlineage").resolve(name);
  }

  /** The folder with the node's key and the spool. */
  Path folder() {
    return folder(System.getenv());
  }

  /**
   * As in the Python package: an empty setting counts as not set, and `~` is `HOME` if that is set.
   */
  Path folder(Map<String, String> environment) {
    String folder =
        Stream.of(home, environment.get("HEADWATER_HOME"))
            .filter(HeadwaterConfig::isSet)
            .findFirst()
            .orElse("~/.headwater");
    if (!folder.equals("~") && !folder.startsWith("~/")) {
      return Path.of(folder);
    }
    String user = environment.get("HOME");
    return Path.of((isSet(user) ? user : System.getProperty("user.home")) + folder.substring(1));
  }

  private static boolean isSet(String setting) {
    return setting != null && !setting.isEmpty();
  }
}
