package headwater.connect;

import headwater.signing.JsonReader;
import headwater.signing.NumberLiteral;
import headwater.signing.Patience;
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
  private static final int MAX_BYTES = 16 << 20;

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

  private record Asked(Settings.Registry registry, Question question) {}

  /** The callbacks that wait for an answer, by question. */
  private final Map<Asked, List<Consumer<Answer>>> waiting = new HashMap<>();

  /**
   * What an id stands for never changes; which version is the latest does, so that is asked anew.
   */
  private final Map<Asked, Answer> known = new HashMap<>();

  private ScheduledThreadPoolExecutor thread;
  private HttpClient client;

  /**
   * Asks; the answer is given at once where it is known, else on another thread, some time or
   * never.
   */
  void ask(Settings.Registry registry, Question question, Consumer<Answer> answered) {
    Asked asked = new Asked(registry, question);
    Answer answer;
    synchronized (this) {
      answer = known.get(asked);
      if (answer == null && !isJoining(asked, answered)) {
        started().execute(() -> attempt(asked, 1));
      }
    }
    if (answer != null) {
      answered.accept(answer);
    }
  }

  /** Joins pending requests for the same question; beyond the limit a question is dropped. */
  private boolean isJoining(Asked asked, Consumer<Answer> answered) {
    List<Consumer<Answer>> others = waiting.get(asked);
    if (others == null && waiting.size() < MAX_QUESTIONS) {
      waiting.put(asked, new ArrayList<>(List.of(answered)));
      return false;
    }
    if (others != null && others.size() < MAX_QUESTIONS) {
      others.add(answered);
    }
    return true;
  }

  private void answer(Asked asked, Answer answer) {
    List<Consumer<Answer>> those;
    synchronized (this) {
      if (asked.question().schemaId() != null && known.size() < MAX_QUESTIONS) {
        known.put(asked, answer);
      }
      those = waiting.remove(asked);
    }
    if (those != null) {
      those.forEach(one -> one.accept(answer));
    }
  }

  private synchronized void giveUp(Asked asked) {
    waiting.remove(asked);
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

  private void attempt(Asked asked, int attempt) {
    try {
      answer(asked, read(asked.registry(), asked.question()));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } catch (IOException | RuntimeException failure) {
      if (attempt == 1) {
        LOGGER.warn(
            "the schema of topic {} cannot be read from {}: {}",
            asked.question().topic(),
            asked.registry().url().getHost(),
            failure.toString());
      }
      if (attempt < MAX_TRIES) {
        tryAgain(asked, attempt + 1);
      } else {
        giveUp(asked);
      }
    }
  }

  private synchronized void tryAgain(Asked asked, int attempt) {
    started().schedule(() -> attempt(asked, attempt), AGAIN_AFTER_S, TimeUnit.SECONDS);
  }

  private static Answer answerOf(Map<?, ?> found, RegisteredVersion version) {
    RegisteredSchemas.Read read = RegisteredSchemas.read(type(found), (String) found.get("schema"));
    return new Answer(version, read.name(), read.fields());
  }

  private Answer read(Settings.Registry registry, Question question)
      throws IOException, InterruptedException {
    String subject = question.topic() + "-value";
    if (question.schemaId() == null) {
      Map<?, ?> latest =
          (Map<?, ?>) get(registry, "/subjects/" + encoded(subject) + "/versions/latest");
      return answerOf(
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
    return answerOf(schema, version);
  }

  private Object get(Settings.Registry registry, String path)
      throws IOException, InterruptedException {
    String base = registry.url().toString().replaceAll("/+$", "");
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path)).timeout(PATIENCE);
    if (registry.userInfo() != null) {
      byte[] user = registry.userInfo().value().getBytes(StandardCharsets.UTF_8);
      request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(user));
    }
    HttpResponse<InputStream> answer =
        client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = answer.body()) {
      if (answer.statusCode() != 200) {
        throw new IOException("status " + answer.statusCode());
      }
      return JsonReader.read(Patience.read(body, MAX_BYTES, PATIENCE));
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
