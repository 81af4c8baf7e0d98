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
 * What a service answered to a posted event, by the rules of `headwater.emit.http`: it has it, will
 * never take it, or takes none now.
 */
public record Answer(int status, byte[] beginning) {
  private static final int MOST_BYTES = 4096;

  /** Any other is about who sends, where to or when: until that is put right all waits. */
  private static final Set<Integer> ABOUT_THE_EVENT = Set.of(400, 413, 422);

  private static final int FORBIDDEN = 403;

  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /**
   * Sends the request, and reads no more than the beginning of what is answered.
   *
   * @param patience how long it may take to come: the client's own timeout ends with the headers
   * @throws IOException if there is none, or it is no HTTP, breaks off, does not come to its end, or
   *     is packed, which nobody asked for: whose answer it is, and so whether it counts, is not
   *     known
   */
  public static Answer to(HttpRequest request, HttpClient client, Duration patience)
      throws IOException, InterruptedException {
    try {
      return of(client.send(request, HttpResponse.BodyHandlers.ofInputStream()), patience);
    } catch (IllegalArgumentException unreadable) { // a length that is no number, for one
      throw new IOException("the answer is no HTTP", unreadable);
    }
  }

  private static Answer of(HttpResponse<InputStream> response, Duration patience)
      throws IOException {
    String packing = response.headers().firstValue("Content-Encoding").orElse("identity").strip();
    try (InputStream body = response.body()) {
      byte[] beginning = Patience.read(body, MOST_BYTES, patience);
      if (beginning.length > 0 && !packing.equalsIgnoreCase("identity")) {
        throw new IOException("the answer is packed");
      }
      return new Answer(response.statusCode(), beginning);
    }
  }

  /** Whether the service has the event; a page for people, such as a sign-in page, says nothing. */
  public boolean isAcknowledged() {
    return status >= 200 && status < 300 && !isPage();
  }

  /** Whether it will never take it; those behind it may be fine. */
  public boolean isRefused() {
    return ABOUT_THE_EVENT.contains(status) || (status == FORBIDDEN && isForItsOwnSake());
  }

  /** In a few words, with what to do where people are to do something. */
  @Override
  public String toString() {
    if (isPage()) {
      return "status " + status + " with a page: a proxy, or the sign-in page of a network";
    }
    return status == FORBIDDEN && !isRefused()
        ? "status 403: enrol the node's key, or have its API key granted what it takes"
        : "status " + status;
  }

  private boolean isPage() {
    String text = new String(beginning, StandardCharsets.UTF_8);
    String said = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    return said.stripLeading().startsWith("<");
  }

  private boolean isForItsOwnSake() {
    try {
      return JsonReader.read(beginning) instanceof Map<?, ?> told
          && Boolean.FALSE.equals(told.get("retriable"));
    } catch (InvalidJsonException none) {
      return false;
    }
  }
}
