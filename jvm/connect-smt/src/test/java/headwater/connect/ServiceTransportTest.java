package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.connect.Transport.Outcome;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServiceTransportTest {
  private static final byte[] EVENT = {'{', '}'};

  private final Map<String, String> environ = new HashMap<>();
  private HttpPeer service;

  @BeforeEach
  void start() throws IOException {
    service = new HttpPeer();
  }

  @AfterEach
  void stop() {
    service.close();
  }

  @Test
  void aStatusSaysWhetherToRetry() throws InterruptedException {
    Map<Integer, Outcome> expected =
        Map.of(
            201, Outcome.ACKNOWLEDGED,
            200, Outcome.ACKNOWLEDGED,
            400, Outcome.REFUSED,
            422, Outcome.REFUSED,
            429, Outcome.UNAVAILABLE,
            302, Outcome.UNAVAILABLE,
            503, Outcome.UNAVAILABLE);

    for (Map.Entry<Integer, Outcome> one : expected.entrySet()) {
      service.answer("/lineage", one.getKey(), "");
      assertThat(transport(null).send("orders", EVENT).outcome()).isEqualTo(one.getValue());
    }
  }

  @Test
  void aForbiddenEventWaitsUnlessNotRetriableAndASignInPageAcknowledgesNothing()
      throws InterruptedException {
    service.answer("/lineage", 403, "{\"retriable\": true}");
    assertThat(transport(null).send("orders", EVENT).outcome()).isEqualTo(Outcome.UNAVAILABLE);
    service.answer("/lineage", 403, "{\"retriable\": false}");
    assertThat(transport(null).send("orders", EVENT).outcome()).isEqualTo(Outcome.REFUSED);
    service.answer("/lineage", 200, "<!DOCTYPE html><html>sign in</html>");
    assertThat(transport(null).send("orders", EVENT).outcome()).isEqualTo(Outcome.UNAVAILABLE);
  }

  @Test
  void theTokenIsReadForEachEvent() throws InterruptedException {
    service.answer("/lineage", 201, "");
    Transport transport = transport("TOKEN");

    Outcome without = transport.send("orders", EVENT).outcome();
    environ.put("TOKEN", "one");
    transport.send("orders", EVENT);
    environ.put("TOKEN", "two\n");
    transport.send("orders", EVENT);

    assertThat(without).isEqualTo(Outcome.UNAVAILABLE);
    assertThat(service.requests())
        .extracting(HttpPeer.Request::authorization)
        .containsExactly("Bearer one", "Bearer two");
  }

  @Test
  void aRefusedConnectionIsUnavailable() throws InterruptedException {
    Transport transport = transport(null);
    service.close();

    assertThat(transport.send("orders", EVENT).outcome()).isEqualTo(Outcome.UNAVAILABLE);
  }

  private Transport transport(String tokenEnv) {
    URI endpoint = URI.create(service.url() + "/lineage");
    return new ServiceTransport(new Settings.Service(endpoint, tokenEnv), environ::get);
  }
}
