package headwater.connect;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A real HTTP server that records requests and sends configured answers. */
final class HttpPeer implements AutoCloseable {
  record Request(String method, String path, String authorization, byte[] body) {}

  private record Answer(int status, byte[] body) {}

  private final HttpServer server;
  private final List<Request> requests = new ArrayList<>();
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  HttpPeer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getRawPath();
          byte[] body = exchange.getRequestBody().readAllBytes();
          String authorization = exchange.getRequestHeaders().getFirst("Authorization");
          synchronized (requests) {
            requests.add(new Request(exchange.getRequestMethod(), path, authorization, body));
          }
          Answer answer = answers.getOrDefault(path, new Answer(404, new byte[0]));
          exchange.sendResponseHeaders(
              answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
          exchange.getResponseBody().write(answer.body());
          exchange.close();
        });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  void answer(String path, int status, String body) {
    answers.put(path, new Answer(status, body.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
  }

  List<Request> requests() {
    synchronized (requests) {
      return List.copyOf(requests);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
