package headwater.openlineage;

import com.sun.net.httpserver.HttpServer;
import headwater.signing.JsonReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A real HTTP server that records events, and answers with `status`. */
final class Service implements AutoCloseable {
  private final HttpServer server;
  private final List<Map<?, ?>> events = new ArrayList<>();
  volatile int status = 201;
  volatile Runnable afterPost = () -> {};

  Service() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    server.createContext(
        "/api/v1/lineage",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          if (status == 201) {
            synchronized (events) {
              events.add((Map<?, ?>) JsonReader.read(body));
            }
          }
          afterPost.run();
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/api/v1/lineage";
  }

  List<Map<?, ?>> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
