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
 * The settings `transport.*`. A bean without annotations: each listener brings a JSON library of
 * its own under a name of its own.
 */
public final class HeadwaterConfig implements TransportConfig {
  private static final long LEAST_HEARTBEAT_MS = 1000; // events tell it in seconds
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

  /** How many events may wait to be signed; what comes beyond is dropped and counted. */
  public int getQueueSize() {
    return queueSize;
  }

  public void setQueueSize(int queueSize) {
    this.queueSize = queueSize;
  }

  /** How much may wait on disk to be delivered; what comes beyond is dropped and counted. */
  public long getSpoolMb() {
    return spoolMb;
  }

  public void setSpoolMb(long spoolMb) {
    this.spoolMb = spoolMb;
  }

  /** How long the end of the program waits for deliveries; the rest waits on disk for the next. */
  public long getDrainTimeoutMs() {
    return drainTimeoutMs;
  }

  public void setDrainTimeoutMs(long drainTimeoutMs) {
    this.drainTimeoutMs = drainTimeoutMs;
  }

  /** How long nothing may be said before the node says that it lives. */
  public long getHeartbeatMs() {
    return heartbeatMs;
  }

  public void setHeartbeatMs(long heartbeatMs) {
    this.heartbeatMs = heartbeatMs;
  }

  /**
   * Looks whether all of them make sense.
   *
   * @throws IllegalArgumentException one does not; the message names it, and shows no value
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

  private static void check(boolean isSo, String otherwise) {
    if (!isSo) {
      throw new IllegalArgumentException(otherwise);
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
      // Its message shows the URL, and with it a password that somebody may have put there.
    }
    throw new IllegalArgumentException("url: expected http://HOST/PATH or https://HOST/PATH");
  }

  /** Where what is for this service waits: of several services each has only its own. */
  Path spool() {
    byte[] target = Sha256.of(endpoint().toString().getBytes(StandardCharsets.UTF_8));
    String name = "http-" + HexFormat.of().formatHex(target, 0, NAME_BYTES);
    return folder().resolve("openlineage").resolve(name);
  }

  /** The folder with the node's key and the spool. */
  Path folder() {
    return folder(System.getenv());
  }

  /** As `headwater` finds it in Python: what is empty is not set, and `~` is `HOME` if that is. */
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
