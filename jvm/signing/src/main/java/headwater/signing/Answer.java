package headwater.signing;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * A service's answer to a posted event: acknowledged, refused permanently, or to be retried, by the
 * same rules as `headwater.emit.http`.
 *
 * @param beginning at most the first 4 KiB of the body
 */
public record Answer(int status, byte[] beginning) {
  private static final int MAX_BYTES = 4096;

  /**
   * Any other error status is about the sender, the address or the time: events wait and are
   * retried.
   */
  private static final Set<Integer> ABOUT_THE_EVENT = Set.of(400, 413, 422);

  private static final int FORBIDDEN = 403;

  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /**
   * Sends the request, and reads only the beginning of the answer.
   *
   * @param timeout for the body: the client's own timeout covers only the headers
   * @throws IOException if there is no answer, or it is not HTTP, incomplete, too slow, or
   *     compressed, which was not requested: then it may not be the service's
   */
  public static Answer to(HttpRequest request, HttpClient client, Duration timeout)
      throws IOException, InterruptedException {
    try {
      return of(client.send(request, HttpResponse.BodyHandlers.ofInputStream()), timeout);
    } catch (
        IllegalArgumentException unreadable) { // for example, if the content length is not a number
      throw new IOException("the answer is not valid HTTP", unreadable);
    }
  }

  private static Answer of(HttpResponse<InputStream> response, Duration timeout)
      throws IOException {
    String encoding = response.headers().firstValue("Content-Encoding").orElse("identity").strip();
    try (InputStream body = response.body()) {
      byte[] beginning = LimitedBody.read(body, MAX_BYTES, timeout);
      if (beginning.length > 0 && !encoding.equalsIgnoreCase("identity")) {
        throw new IOException("the answer is compressed, which was not requested");
      }
      return new Answer(response.statusCode(), beginning);
    }
  }

  /** Whether the service stored the event; an HTML page, such as a sign-in page, does not count. */
  public boolean isAcknowledged() {
    return status >= 200 && status < 300 && !isPage();
  }

  /** Whether the service refuses this event permanently; later ones may be accepted. */
  public boolean isRefused() {
    return ABOUT_THE_EVENT.contains(status) || (status == FORBIDDEN && isNotRetriable());
  }

  /** The status in a few words, and what to do about it if a person must act. */
  @Override
  public String toString() {
    if (isPage()) {
      return "status " + status + " with a page: a proxy, or the sign-in page of a network";
    }
    return status == FORBIDDEN && !isRefused()
        ? "status 403: enrol the node's key, or grant its API key the role that it needs"
        : "status " + status;
  }

  private boolean isPage() {
    String text = new String(beginning, StandardCharsets.UTF_8);
    String content = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    return content.stripLeading().startsWith("<");
  }

  private boolean isNotRetriable() {
    try {
      return JsonReader.read(beginning) instanceof Map<?, ?> error
          && Boolean.FALSE.equals(error.get("retriable"));
    } catch (InvalidJsonException none) {
      return false;
    }
  }
}
