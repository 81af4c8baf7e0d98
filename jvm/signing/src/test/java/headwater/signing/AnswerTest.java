package headwater.signing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerTest {
  private static final String NOT_RETRIABLE =
      "{\"code\": 403, \"message\": \"tampered\", \"retriable\": false}";
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String RETRIABLE = "{\"code\": 403, \"retriable\": true}";

  @ParameterizedTest
  @CsvSource({
    "200, true, false", "201, true, false", "302, false, false", "400, false, true",
    "401, false, false", "403, false, false", "404, false, false", "405, false, false",
    "407, false, false", "409, false, false", "410, false, false", "415, false, false",
    "413, false, true", "422, false, true", "429, false, false", "503, false, false"
  })
  void aStatusSaysWhetherToRetry(int status, boolean isAcknowledged, boolean isRefused) {
    Answer answer = answer(status, "");

    assertThat(answer.isAcknowledged()).isEqualTo(isAcknowledged);
    assertThat(answer.isRefused()).isEqualTo(isRefused);
  }

  @Test
  void aForbiddenEventWaitsUnlessNotRetriable() {
    assertThat(answer(403, NOT_RETRIABLE).isRefused()).isTrue();
    assertThat(answer(403, RETRIABLE).isRefused()).isFalse();
    assertThat(answer(403, "no JSON").isRefused()).isFalse();
    assertThat(answer(403, RETRIABLE).toString()).contains("enrol the node's key");
    assertThat(answer(403, NOT_RETRIABLE)).hasToString("status 403");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<!DOCTYPE html>", "\uFEFF<html>", "\r\n \t<script>", "<?xml ?>"})
  void aPageIsNotAnAnswerOfTheService(String page) {
    for (int status : new int[] {200, 201, 403, 404}) {
      assertThat(answer(status, page).isAcknowledged()).isFalse();
      assertThat(answer(status, page).isRefused()).isFalse();
    }
    assertThat(answer(422, page).isRefused()).isTrue();
  }

  @Test
  void anIncompleteOrCompressedAnswerDoesNotCount() throws Exception {
    assertThat(served(201, null, 0, new byte[0]).isAcknowledged()).isTrue();
    assertThatThrownBy(() -> served(200, null, 5000, new byte[0])).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> served(200, null, 5000, "<htm".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> served(200, "br", 3, new byte[] {27, 16, 0}))
        .isInstanceOf(IOException.class);
    assertThat(served(201, "br", 0, new byte[0]).isAcknowledged()).isTrue();
  }

  @ParameterizedTest
  @Timeout(60)
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 many\r\n\r\n",
        "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        "\u0000\u0001\u0002\r\n\r\n"
      })
  void anAnswerThatIsNotHttpDoesNotCount(String answer) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread thread = new Thread(() -> answer(server, answer));
      thread.start();
      URI address = URI.create("http://127.0.0.1:" + server.getLocalPort());
      HttpRequest request = HttpRequest.newBuilder(address).build();

      assertThatThrownBy(() -> Answer.to(request, HttpClient.newHttpClient(), LONG))
          .isInstanceOf(IOException.class);
      thread.join();
    }
  }

  private static void answer(ServerSocket server, String answer) {
    try (Socket peer = server.accept()) {
      peer.getInputStream().read();
      peer.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Test
  @Timeout(60)
  void aSlowAnswerTimesOut() throws Exception {
    CountDownLatch isOver = new CountDownLatch(1);

    assertThatThrownBy(
            () -> served(201, null, 5000, "{".getBytes(StandardCharsets.UTF_8), isOver, SHORT))
        .isInstanceOf(IOException.class);
  }

  /** The answer of a real server that sends this length and body. */
  private static Answer served(int status, String encoding, int length, byte[] body)
      throws IOException, InterruptedException {
    return served(status, encoding, length, body, new CountDownLatch(0), LONG);
  }

  /** The same, of a server that ends the response only at `end`. */
  private static Answer served(
      int status, String encoding, int length, byte[] body, CountDownLatch end, Duration timeout)
      throws IOException, InterruptedException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    server.createContext(
        "/",
        exchange -> {
          if (encoding != null) {
            exchange.getResponseHeaders().set("Content-Encoding", encoding);
          }
          exchange.sendResponseHeaders(status, length == 0 ? -1 : length);
          exchange.getResponseBody().write(body);
          exchange.getResponseBody().flush();
          await(end);
          exchange.close();
        });
    server.start();
    try {
      URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
      return Answer.to(
          HttpRequest.newBuilder(address).build(), HttpClient.newHttpClient(), timeout);
    } finally {
      end.countDown();
      server.stop(0);
    }
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException ended) {
      throw new IllegalStateException(ended);
    }
  }

  private static Answer answer(int status, String body) {
    return new Answer(status, body.getBytes(StandardCharsets.UTF_8));
  }
}
