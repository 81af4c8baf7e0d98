package headwater.connect;

import headwater.signing.JsonReader;
import headwater.signing.NumberLiteral;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads schemas from a registry that speaks Confluent's API, one after the other on a thread of its
 * own.
 *
 * <p>Each question is asked until it is answered, at most ten times; many tasks that ask the same
 * are one.
 */
final class RegistryReader {
  private static final Logger LOGGER = LoggerFactory.getLogger(RegistryReader.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int MAX_TRIES = 10;
  private static final int MAX_QUESTIONS = 10_000;
  private static final long AGAIN_AFTER_S = 15;

  /**
   * Which schema a topic's values have; the id is that in front of a value, or null where values
   * have none.
   */
  record Question(String topic, Integer schemaId) {}

  /** A schema of a topic's values. */
  record Answer(RegisteredVersion version, String name, List<FieldShape> fields) {
    Shape shapeWith(List<FieldShape> keyFields) {
      return new Shape(Shape.Origin.REGISTRY, name, null, fields, keyFields, version);
    }
  }

  private final Set<Question> asked = new HashSet<>();
  private ScheduledThreadPoolExecutor thread;
  private HttpClient client;

  /** Asks; the answer is given on another thread, some time or never. */
  synchronized void ask(Settings.Registry registry, Question question, Consumer<Answer> answered) {
    if (asked.size() < MAX_QUESTIONS && asked.add(question)) {
      started().execute(() -> attempt(registry, question, answered, 1));
    }
  }

  private ScheduledThreadPoolExecutor started() {
    if (thread == null) {
      thread =
          new ScheduledThreadPoolExecutor(
              1,
              work -> {
                Thread made = new Thread(work, "headwater-lineage-registry");
                made.setDaemon(true);
                return made;
              });
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(PATIENCE)
              .build();
    }
    return thread;
  }

  private void attempt(
      Settings.Registry registry, Question question, Consumer<Answer> answered, int attempt) {
    try {
      answered.accept(read(registry, question));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } catch (IOException | RuntimeException failure) {
      if (attempt == 1) {
        LOGGER.warn(
            "the schema of topic {} cannot be read from {}: {}",
            question.topic(),
            registry.url().getHost(),
            failure.toString());
      }
      if (attempt < MAX_TRIES) {
        started()
            .schedule(
                () -> attempt(registry, question, answered, attempt + 1),
                AGAIN_AFTER_S,
                TimeUnit.SECONDS);
      }
    }
  }

  private Answer read(Settings.Registry registry, Question question)
      throws IOException, InterruptedException {
    String subject = question.topic() + "-value";
    if (question.schemaId() == null) {
      Map<?, ?> latest =
          (Map<?, ?>) get(registry, "/subjects/" + encoded(subject) + "/versions/latest");
      return answer(
          latest,
          new RegisteredVersion(
              subject, number(latest, "version"), number(latest, "id"), type(latest)));
    }
    int id = question.schemaId();
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
    return answer(schema, version);
  }

  private static Answer answer(Map<?, ?> found, RegisteredVersion version) {
    RegisteredSchemas.Read read = RegisteredSchemas.read(type(found), (String) found.get("schema"));
    return new Answer(version, read.name(), read.fields());
  }

  private Object get(Settings.Registry registry, String path)
      throws IOException, InterruptedException {
    String base = registry.url().toString().replaceAll("/+$", "");
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path)).timeout(PATIENCE);
    if (registry.userInfo() != null) {
      byte[] user = registry.userInfo().value().getBytes(StandardCharsets.UTF_8);
      request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(user));
    }
    HttpResponse<byte[]> answer =
        client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    if (answer.statusCode() != 200) {
      throw new IOException("status " + answer.statusCode());
    }
    return JsonReader.read(answer.body());
  }

  private static String encoded(String subject) {
    return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Avro is what the registry leaves out. */
  private static String type(Map<?, ?> found) {
    return found.get("schemaType") instanceof String type ? type : "AVRO";
  }

  private static int number(Map<?, ?> found, String member) {
    return Integer.parseInt(((NumberLiteral) found.get(member)).text());
  }
}
