package headwater.connect;

import headwater.signing.Answer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * Posts events to a lineage service. The token is read anew for each event, and is nowhere kept or
 * shown.
 */
final class ServiceTransport implements Transport {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final URI endpoint;
  private final String tokenEnv;
  private final UnaryOperator<String> environ;
  private HttpClient client;

  ServiceTransport(Settings.Service service, UnaryOperator<String> environ) {
    this.endpoint = service.endpoint();
    this.tokenEnv = service.tokenEnv();
    this.environ = environ;
  }

  /** Source: RFC 9110, section 15, for what a status says about trying again */
  @Override
  public Delivery send(String connector, byte[] event) throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint)
            .timeout(PATIENCE)
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
      Answer answer = Answer.to(request.build(), opened(), PATIENCE);
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

  private HttpClient opened() {
    if (client == null) {
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(PATIENCE)
              .build();
    }
    return client;
  }

  @Override
  public void close() {
    client = null; // its threads end once nobody holds it
  }
}
