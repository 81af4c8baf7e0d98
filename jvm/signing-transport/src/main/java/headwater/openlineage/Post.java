package headwater.openlineage;

import headwater.signing.Answer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * Posts events to a lineage service. The token is read for each event, and never stored or logged.
 */
final class Post {
  /** The outcome of a delivery: stored, refused permanently, or to be retried. */
  enum Outcome {
    ACKNOWLEDGED,
    REFUSED,
    UNAVAILABLE
  }

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final URI endpoint;
  private final String tokenEnv;
  private final UnaryOperator<String> environ;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();
  private String why = "";

  Post(URI endpoint, String tokenEnv, UnaryOperator<String> environ) {
    this.endpoint = endpoint;
    this.tokenEnv = tokenEnv;
    this.environ = environ;
  }

  /** Source: RFC 9110, section 15, for which statuses to retry */
  Outcome send(byte[] event) throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint)
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(event));
    if (tokenEnv != null) {
      String token = environ.apply(tokenEnv);
      if (token == null || !token.strip().matches("[!-~]+")) {
        why = "environment variable " + tokenEnv + " holds no bearer token";
        return Outcome.UNAVAILABLE;
      }
      request.header("Authorization", "Bearer " + token.strip());
    }
    try {
      Answer answer = Answer.to(request.build(), client, TIMEOUT);
      why = answer.toString();
      if (answer.isAcknowledged()) {
        return Outcome.ACKNOWLEDGED;
      }
      return answer.isRefused() ? Outcome.REFUSED : Outcome.UNAVAILABLE;
    } catch (IOException failure) {
      why = failure.getClass().getSimpleName();
      return Outcome.UNAVAILABLE;
    }
  }

  /** Why the last event was not acknowledged, in a few words. */
  String why() {
    return why;
  }
}
