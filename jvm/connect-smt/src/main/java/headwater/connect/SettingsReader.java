package headwater.connect;

import static headwater.connect.Settings.BOOTSTRAP;
import static headwater.connect.Settings.CHAIN_FOLDER;
import static headwater.connect.Settings.CONNECTOR_CLASS;
import static headwater.connect.Settings.CONNECTOR_NAME;
import static headwater.connect.Settings.DATASET_NAMES;
import static headwater.connect.Settings.DATASET_NAMESPACE;
import static headwater.connect.Settings.DEFAULT_TOPIC;
import static headwater.connect.Settings.INTERVAL;
import static headwater.connect.Settings.KAFKA_NAMESPACE;
import static headwater.connect.Settings.NAMESPACE;
import static headwater.connect.Settings.NODE_KEY;
import static headwater.connect.Settings.PRODUCER;
import static headwater.connect.Settings.REGISTRY_ENV;
import static headwater.connect.Settings.REGISTRY_URL;
import static headwater.connect.Settings.REGISTRY_USER_INFO;
import static headwater.connect.Settings.RESTART_WITHIN;
import static headwater.connect.Settings.SCHEMA_READ;
import static headwater.connect.Settings.TOKEN_ENV;
import static headwater.connect.Settings.TOPIC;
import static headwater.connect.Settings.TOPICS;
import static headwater.connect.Settings.URL;

import headwater.connect.Settings.Registry;
import headwater.connect.Settings.Service;
import headwater.connect.Settings.Target;
import headwater.connect.Settings.Topic;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.types.Password;

/**
 * Reads {@link Settings} from the transform's configuration, else the worker's properties, else the
 * environment.
 */
record SettingsReader(
    Map<String, ?> configs,
    Map<String, String> worker,
    Function<String, String> environ,
    Consumer<String> warn) {
  private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(60);
  private static final Duration DEFAULT_RESTART_WITHIN = Duration.ofSeconds(5);
  private static final Pattern DURATION = Pattern.compile("(\\d{1,6})\\s*(ms|s|m|h)?");
  private static final Pattern SERVER =
      Pattern.compile("(?:[A-Za-z_]+://)?(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::(\\d{1,5}))?");

  Settings settings() {
    return new Settings(
        text(CONNECTOR_NAME).orElse(null),
        text(CONNECTOR_CLASS).orElse(null),
        list(TOPICS),
        text(NAMESPACE).orElse("kafka-connect"),
        text(KAFKA_NAMESPACE).or(this::brokerNamespace).orElse(null),
        text(DATASET_NAMESPACE).orElse(null),
        otherNames(),
        registry(),
        target(),
        signing(),
        duration(INTERVAL, DEFAULT_INTERVAL, Duration.ofMillis(100)),
        duration(RESTART_WITHIN, DEFAULT_RESTART_WITHIN, Duration.ZERO));
  }

  private Settings.Signing signing() {
    return text(NODE_KEY)
        .map(key -> new Settings.Signing(key, text(CHAIN_FOLDER).orElse(null)))
        .orElse(null);
  }

  private Optional<String> text(String key) {
    Object value = configs.get(key);
    String text =
        value instanceof Password password
            ? password.value()
            : value == null ? "" : value.toString();
    return text.isBlank() ? Optional.empty() : Optional.of(text.strip());
  }

  private List<String> list(String key) {
    return Arrays.stream(text(key).orElse("").split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .toList();
  }

  private List<String> otherNames() {
    List<String> names = list(DATASET_NAMES);
    if (names.isEmpty() || text(DATASET_NAMESPACE).isPresent()) {
      return names;
    }
    warn.accept(DATASET_NAMES + ": ignored, since " + DATASET_NAMESPACE + " is not set");
    return List.of();
  }

  private Optional<String> bootstrap() {
    return text(BOOTSTRAP)
        .or(() -> Optional.ofNullable(worker.get(BOOTSTRAP)))
        .or(() -> Optional.ofNullable(environ.apply("CONNECT_BOOTSTRAP_SERVERS")))
        .filter(servers -> !servers.isBlank());
  }

  private Optional<String> brokerNamespace() {
    Optional<Matcher> first =
        bootstrap()
            .map(servers -> SERVER.matcher(servers.split(",")[0].strip()))
            .filter(Matcher::matches);
    if (first.isEmpty()) {
      warn.accept(
          "topics have no namespace, so no datasets are reported: set "
              + BOOTSTRAP
              + " or "
              + KAFKA_NAMESPACE);
    }
    return first.map(
        server -> "kafka://" + lowerCase(server.group(1)) + ":" + port(server.group(2)));
  }

  private static String port(String text) {
    return text == null ? "9092" : text;
  }

  private static String lowerCase(String host) {
    return host.toLowerCase(Locale.ROOT);
  }

  private Target target() {
    Optional<URI> url = url(URL, "OPENLINEAGE_URL");
    if (url.isPresent()) {
      boolean isBare = url.get().getRawPath() == null || url.get().getRawPath().matches("/?");
      URI endpoint = isBare ? url.get().resolve("/api/v1/lineage") : url.get();
      return new Service(endpoint, text(TOKEN_ENV).orElse(null));
    }
    if (bootstrap().isEmpty()) {
      warn.accept(
          "there is nowhere to send events to: set " + URL + ", or " + TOPIC + " and " + BOOTSTRAP);
      return null;
    }
    return new Topic(text(TOPIC).orElse(DEFAULT_TOPIC), producer());
  }

  /**
   * The producer's configuration: the worker's own for the brokers, overridden by that of its
   * producers, then by the transform's.
   */
  private Map<String, String> producer() {
    Map<String, String> producer = new TreeMap<>();
    worker.forEach(
        (key, value) -> {
          if (key.matches("(?:security|sasl|ssl)\\..*")) {
            producer.put(key, value);
          }
        });
    worker.forEach(
        (key, value) -> {
          if (key.matches("producer\\.(?:security|sasl|ssl)\\..*")) {
            producer.put(key.substring(PRODUCER.length()), value);
          }
        });
    configs.forEach(
        (key, value) -> {
          if (key.startsWith(PRODUCER) && value != null) {
            producer.put(key.substring(PRODUCER.length()), value.toString());
          }
        });
    producer.put(BOOTSTRAP, bootstrap().orElseThrow());
    return producer;
  }

  private Registry registry() {
    boolean isWanted = text(SCHEMA_READ).map(Boolean::parseBoolean).orElse(false);
    Optional<URI> url = isWanted ? url(REGISTRY_URL, null) : Optional.empty();
    if (isWanted && url.isEmpty()) {
      warn.accept(
          SCHEMA_READ
              + ": no schema can be read, since "
              + REGISTRY_URL
              + " is not set or invalid");
    }
    Optional<String> user =
        text(REGISTRY_USER_INFO)
            .or(() -> text(REGISTRY_ENV).map(environ).filter(value -> !value.isBlank()));
    return url.map(found -> new Registry(found, user.map(Password::new).orElse(null))).orElse(null);
  }

  private Optional<URI> url(String key, String variable) {
    Optional<String> text = text(key).or(() -> Optional.ofNullable(variable).map(environ));
    if (text.isEmpty()) {
      return Optional.empty();
    }
    try {
      URI url = URI.create(text.get());
      if (url.getHost() != null
          && ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))) {
        return Optional.of(url);
      }
    } catch (IllegalArgumentException malformed) {
      // Its message contains the URL, and so possibly a password.
    }
    warn.accept(key + ": expected http://HOST or https://HOST");
    return Optional.empty();
  }

  private Duration duration(String key, Duration defaultValue, Duration minimum) {
    Optional<String> text = text(key);
    Matcher found = DURATION.matcher(text.orElse(""));
    if (text.isPresent() && !found.matches()) {
      warn.accept(key + ": expected a duration such as 500ms, 30s or 5m");
    }
    if (text.isEmpty() || !found.matches()) {
      return defaultValue;
    }
    long amount = Long.parseLong(found.group(1));
    Duration value =
        switch (found.group(2) == null ? "s" : found.group(2)) {
          case "ms" -> Duration.ofMillis(amount);
          case "m" -> Duration.ofMinutes(amount);
          case "h" -> Duration.ofHours(amount);
          default -> Duration.ofSeconds(amount);
        };
    return value.compareTo(minimum) < 0 ? minimum : value;
  }
}
