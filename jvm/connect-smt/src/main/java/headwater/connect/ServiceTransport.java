package headwater.connect;

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
final class ServiceTransport implements Transport {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final URI endpoint;
  private final String tokenEnv;
  private final UnaryOperator<String> environ;
  private HttpClient client;

  ServiceTransport(Settings.Service service, UnaryOperator<String> environ) {
    this.endpoint = service.endpoint();
    this.tokenEnv = service.tokenEnv();
    this.environ = environ;
  }

  /** Source: RFC 9110, section 15, for which statuses to retry */
  @Override
  public Delivery send(String connector, byte[] event) throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint)
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .header("User-Agent", "headwater-connect-smt/" + Events.VERSION)
            .POST(HttpRequest.BodyPublishers.ofByteArray(event));
    if (tokenEnv != null) {
      String token = environ.apply(tokenEnv);
      if (token == null || !token.strip().matches("[!-~]+")) {
        return unavailable("environment variable " + tokenEnv + " holds no bearer token");
      }
      request.header("Authorization", "Bearer " + token.strip());
    }
    try {
      Answer answer = Answer.to(request.build(), openClient(), TIMEOUT);
      if (answer.isAcknowledged()) {
        return Delivery.DONE;
      }
      return answer.isRefused()
          ? new Delivery(Outcome.REFUSED, answer.toString())
          : unavailable(answer.toString());
    } catch (IOException failure) {
      return unavailable(failure.getClass().getSimpleName());
    }
  }

  private static Delivery unavailable(String why) {
    return new Delivery(Outcome.UNAVAILABLE, why);
  }

  private HttpClient openClient() {
    if (client == null) {
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(TIMEOUT)
              .build();
    }
    return client;
  }

  @Override
  public void close() {
    client = null; // its threads end once it is garbage-collected
  }
}
