package headwater.signing;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/**
 * What a service answered to a posted event, by the rules of `headwater.emit.http`: it has it, will
 * never take it, or takes none now.
 */
public record Answer(int status, byte[] beginning) {
  private static final int MOST_BYTES = 4096;

  /** What people put right is among it: until then nothing may be lost. */
  private static final Set<Integer> WORTH_A_RETRY = Set.of(401, 407, 408, 425, 429);

  private static final int FORBIDDEN = 403;

  /** With a page they are a proxy's word; any other may be about the event, and hold up others. */
  private static final Set<Integer> NOT_ABOUT_THE_EVENT = Set.of(FORBIDDEN, 404);

  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /** Reads no more than the beginning. */
  public static Answer of(HttpResponse<InputStream> response) {
    try (InputStream body = response.body()) {
      return new Answer(response.statusCode(), body.readNBytes(MOST_BYTES));
    } catch (IOException brokenOff) {
      return new Answer(response.statusCode(), new byte[0]); // the status counts, and is here
    }
  }

  /** Whether the service has the event; a page for people, such as a sign-in page, says nothing. */
  public boolean isAcknowledged() {
    return status >= 200 && status < 300 && !isPage();
  }

  /** Whether it will never take it; those behind it may be fine. */
  public boolean isRefused() {
    if (status < 400 || status >= 500 || (NOT_ABOUT_THE_EVENT.contains(status) && isPage())) {
      return false;
    }
    return status == FORBIDDEN ? isForItsOwnSake() : !WORTH_A_RETRY.contains(status);
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
