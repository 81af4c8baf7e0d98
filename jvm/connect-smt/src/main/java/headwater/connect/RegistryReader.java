package headwater.connect;

import headwater.signing.JsonReader;
import headwater.signing.LimitedBody;
import headwater.signing.NumberLiteral;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads schemas from a registry with Confluent's API, one at a time on a thread of its own.
 *
 * <p>A failed query is retried, ten attempts in all; equal queries of many tasks are one.
 */
final class RegistryReader {
  private static final Logger LOGGER = LoggerFactory.getLogger(RegistryReader.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_ATTEMPTS = 10;
  private static final int MAX_QUERIES = 10_000;
  private static final long RETRY_AFTER_S = 15;
  private static final int MAX_BYTES = 16 << 20;

  /**
   * A query for the schema of a topic's values: by the id at the start of a value, or the latest if
   * that is null.
   */
  record Query(String topic, Integer schemaId) {}

  /** A schema of a topic's values. */
  record Result(RegisteredVersion version, String name, List<FieldShape> fields) {
    Shape shapeWith(List<FieldShape> keyFields) {
      return new Shape(Shape.Origin.REGISTRY, name, null, fields, keyFields, version);
    }
  }

  private record Request(Settings.Registry registry, Query query) {}

  /** Callbacks by pending request. */
  private final Map<Request, List<Consumer<Result>>> waiting = new HashMap<>();

  /**
   * Cached results by id, whose schema never changes; the latest version does, so it is not cached.
   */
  private final Map<Request, Result> cached = new HashMap<>();

  private ScheduledThreadPoolExecutor thread;
  private HttpClient client;

  /**
   * Looks up a schema. A cached result is passed on at once; otherwise on another thread later, or
   * never if all attempts fail.
   */
  void read(Settings.Registry registry, Query query, Consumer<Result> callback) {
    Request request = new Request(registry, query);
    Result result;
    synchronized (this) {
      result = cached.get(request);
      if (result == null && !hasJoined(request, callback)) {
        startedThread().execute(() -> attempt(request, 1));
      }
    }
    if (result != null) {
      callback.accept(result);
    }
  }

  /** Joins a pending request for the same query; beyond the limit the request is dropped. */
  private boolean hasJoined(Request request, Consumer<Result> callback) {
    List<Consumer<Result>> others = waiting.get(request);
    if (others == null && waiting.size() < MAX_QUERIES) {
      waiting.put(request, new ArrayList<>(List.of(callback)));
      return false;
    }
    if (others != null && others.size() < MAX_QUERIES) {
      others.add(callback);
    }
    return true;
  }

  private void complete(Request request, Result result) {
    List<Consumer<Result>> callbacks;
    synchronized (this) {
      if (request.query().schemaId() != null && cached.size() < MAX_QUERIES) {
        cached.put(request, result);
      }
      callbacks = waiting.remove(request);
    }
    if (callbacks != null) {
      callbacks.forEach(one -> one.accept(result));
    }
  }

  private synchronized void giveUp(Request request) {
    waiting.remove(request);
  }

  private ScheduledThreadPoolExecutor startedThread() {
    if (thread == null) {
      thread =
          new ScheduledThreadPoolExecutor(
              1,
              work -> {
                Thread daemon = new Thread(work, "headwater-lineage-registry");
                daemon.setDaemon(true);
                return daemon;
              });
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(TIMEOUT)
              .build();
    }
    return thread;
  }

  private void attempt(Request request, int attempt) {
    try {
      complete(request, read(request.registry(), request.query()));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } catch (IOException | RuntimeException failure) {
      if (attempt == 1) {
        LOGGER.warn(
            "the schema of topic {} cannot be read from {}: {}",
            request.query().topic(),
            request.registry().url().getHost(),
            failure.toString());
      }
      if (attempt < MAX_ATTEMPTS) {
        retry(request, attempt + 1);
      } else {
        giveUp(request);
      }
    }
  }

  private synchronized void retry(Request request, int attempt) {
    startedThread().schedule(() -> attempt(request, attempt), RETRY_AFTER_S, TimeUnit.SECONDS);
  }

  private static Result resultOf(Map<?, ?> found, RegisteredVersion version) {
    RegisteredSchemas.ParsedSchema read =
        RegisteredSchemas.read(type(found), (String) found.get("schema"));
    return new Result(version, read.name(), read.fields());
  }

  private Result read(Settings.Registry registry, Query query)
      throws IOException, InterruptedException {
    String subject = query.topic() + "-value";
    if (query.schemaId() == null) {
      Map<?, ?> latest =
          (Map<?, ?>) get(registry, "/subjects/" + encoded(subject) + "/versions/latest");
      return resultOf(
          latest,
          new RegisteredVersion(
              subject, number(latest, "version"), number(latest, "id"), type(latest)));
    }
    int id = query.schemaId();
    Map<?, ?> schema = (Map<?, ?>) get(registry, "/schemas/ids/" + id);
    RegisteredVersion version = null;
    for (Object used : (List<?>) get(registry, "/schemas/ids/" + id + "/versions")) {
      Map<?, ?> one = (Map<?, ?>) used;
      if (version == null || subject.equals(one.get("subject"))) {
        version =
            new RegisteredVersion(
                (String) one.get("subject"), number(one, "version"), id, type(schema));
      }
    }
    return resultOf(schema, version);
  }

  private Object get(Settings.Registry registry, String path)
      throws IOException, InterruptedException {
    String base = registry.url().toString().replaceAll("/+$", "");
    HttpRequest.Builder httpRequest =
        HttpRequest.newBuilder(URI.create(base + path)).timeout(TIMEOUT);
    if (registry.userInfo() != null) {
      byte[] user = registry.userInfo().value().getBytes(StandardCharsets.UTF_8);
      httpRequest.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(user));
    }
    HttpResponse<InputStream> response =
        client.send(httpRequest.build(), HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = response.body()) {
      if (response.statusCode() != 200) {
        throw new IOException("status " + response.statusCode());
      }
      return JsonReader.read(LimitedBody.read(body, MAX_BYTES, TIMEOUT));
    }
  }

  private static String encoded(String subject) {
    return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The registry omits the type AVRO. */
  private static String type(Map<?, ?> found) {
    return found.get("schemaType") instanceof String type ? type : "AVRO";
  }

  private static int number(Map<?, ?> found, String member) {
    return Integer.parseInt(((NumberLiteral) found.get(member)).text());
  }
}
