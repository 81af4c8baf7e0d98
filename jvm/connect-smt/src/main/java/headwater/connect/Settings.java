package headwater.connect;

import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.types.Password;

/**
 * What the transform was told, and what it found out by itself. A value that makes no sense is told
 * and left aside.
 *
 * @param connectorName null to find it out
 * @param connectorClass null to find it out
 * @param topics to be told of before a record passes
 * @param jobNamespace of the connector's job
 * @param kafkaNamespace of the topics; null where no broker is known
 * @param otherNamespace of `otherNames`; null for none
 * @param otherNames the datasets on the connector's other side
 * @param registry null where no schemas are to be read from one
 * @param target where events go; null for nowhere
 * @param nodeKey the file with the key to sign with; null for none
 * @param interval between two events of a run about which there is no news
 * @param restartWithin how long after its last task's end a connector's run goes on if a task
 *     starts
 */
record Settings(
    String connectorName,
    String connectorClass,
    List<String> topics,
    String jobNamespace,
    String kafkaNamespace,
    String otherNamespace,
    List<String> otherNames,
    Registry registry,
    Target target,
    String nodeKey,
    Duration interval,
    Duration restartWithin) {

  static final String CONNECTOR_NAME = "connector.name";
  static final String CONNECTOR_CLASS = "connector.class";
  static final String TOPICS = "topics";
  static final String NAMESPACE = "namespace";
  static final String KAFKA_NAMESPACE = "kafka.namespace";
  static final String DATASET_NAMESPACE = "dataset.namespace";
  static final String DATASET_NAMES = "dataset.names";
  static final String SCHEMA_READ = "value.converter.schema.read";
  static final String REGISTRY_URL = "schema.registry.url";
  static final String REGISTRY_USER_INFO = "schema.registry.basic.auth.user.info";
  static final String REGISTRY_ENV = "schema.registry.basic.auth.env";
  static final String URL = "openlineage.url";
  static final String TOKEN_ENV = "openlineage.token.env";
  static final String TOPIC = "lineage.topic";
  static final String BOOTSTRAP = "bootstrap.servers";
  static final String PRODUCER = "producer.";
  static final String NODE_KEY = "node.key";
  static final String INTERVAL = "emission.interval";
  static final String RESTART_WITHIN = "restart.within";

  static final String DEFAULT_TOPIC = "headwater-lineage";
  private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(60);
  private static final Duration DEFAULT_RESTART_WITHIN = Duration.ofSeconds(5);
  private static final Pattern DURATION = Pattern.compile("(\\d{1,6})\\s*(ms|s|m|h)?");
  private static final Pattern SERVER =
      Pattern.compile("(?:[A-Za-z_]+://)?(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::(\\d{1,5}))?");

  /** Where schemas are read; `userInfo` is `user:password`, or null. */
  record Registry(URI url, Password userInfo) {}

  /** Where events go. */
  sealed interface Target {
    /** Its name in logs and metrics, without credentials. */
    String shown();
  }

  /**
   * A lineage service; the token is read from that variable of the environment, if one is named.
   */
  record Service(URI endpoint, String tokenEnv) implements Target {
    @Override
    public String shown() {
      String port = endpoint.getPort() < 0 ? "" : ":" + endpoint.getPort();
      return endpoint.getScheme() + "://" + endpoint.getHost() + port + endpoint.getRawPath();
    }
  }

  /** A topic; `producer` is what a producer needs to reach it, with its secrets. */
  record Topic(String name, Map<String, String> producer) implements Target {
    @Override
    public String shown() {
      return "kafka://" + producer.get(BOOTSTRAP) + "/" + name;
    }

    @Override
    public String toString() {
      return shown();
    }
  }

  /** The same, but nothing is waited for when the last task ends. */
  Settings endingAtOnce() {
    return new Settings(
        connectorName,
        connectorClass,
        topics,
        jobNamespace,
        kafkaNamespace,
        otherNamespace,
        otherNames,
        registry,
        target,
        nodeKey,
        interval,
        Duration.ZERO);
  }

  /**
   * The keys as Connect shows them. All are plain text to Connect, so that it refuses no connector
   * for ours.
   */
  static ConfigDef definition() {
    ConfigDef keys = new ConfigDef();
    ConfigDef.Importance high = ConfigDef.Importance.HIGH;
    ConfigDef.Importance medium = ConfigDef.Importance.MEDIUM;
    ConfigDef.Importance low = ConfigDef.Importance.LOW;
    text(keys, URL, high, "The lineage service, to which events are posted.");
    text(
        keys,
        TOKEN_ENV,
        medium,
        "The environment variable with the bearer token for the lineage service.");
    text(
        keys,
        TOPIC,
        high,
        "The topic for events where no service is named; headwater-lineage by default.");
    text(keys, BOOTSTRAP, medium, "The brokers; those of the worker by default.");
    text(keys, NODE_KEY, medium, "The file with the node's key, to sign events with.");
    text(
        keys,
        INTERVAL,
        medium,
        "How often a run's counters are told, such as 30s; 60s by default.");
    text(
        keys,
        RESTART_WITHIN,
        low,
        "How soon tasks must be back for their run to go on; 5s by default.");
    text(
        keys, NAMESPACE, medium, "The namespace of the connector's job; kafka-connect by default.");
    text(
        keys,
        KAFKA_NAMESPACE,
        low,
        "The namespace of topics; kafka://HOST:PORT of the first broker by default.");
    text(
        keys,
        DATASET_NAMESPACE,
        medium,
        "The namespace of the datasets on the connector's other side.");
    text(
        keys,
        DATASET_NAMES,
        medium,
        "The names of the datasets on the connector's other side, with commas.");
    text(keys, CONNECTOR_NAME, low, "The connector's name, where the worker does not tell it.");
    text(keys, CONNECTOR_CLASS, low, "The connector's class, where the worker does not tell it.");
    text(keys, TOPICS, low, "Topics to be told of before a record passes.");
    text(
        keys,
        SCHEMA_READ,
        medium,
        "true to read the schemas of values that are bytes from the registry.");
    text(keys, REGISTRY_URL, medium, "The schema registry, by Confluent's API.");
    text(keys, REGISTRY_ENV, low, "The environment variable with user:password for the registry.");
    keys.define(
        REGISTRY_USER_INFO, ConfigDef.Type.PASSWORD, null, low, "user:password for the registry.");
    return keys;
  }

  private static void text(
      ConfigDef keys, String key, ConfigDef.Importance importance, String meaning) {
    keys.define(key, ConfigDef.Type.STRING, null, importance, meaning);
  }

  /**
   * Reads the transform's configuration.
   *
   * @param worker the worker's own properties, as far as they are known
   * @param environ the environment
   * @param warn takes a sentence for every value that is left aside; no sentence shows a value
   */
  static Settings read(
      Map<String, ?> given,
      Map<String, String> worker,
      Function<String, String> environ,
      Consumer<String> warn) {
    return new Reader(given, worker, environ, warn).settings();
  }

  private record Reader(
      Map<String, ?> given,
      Map<String, String> worker,
      Function<String, String> environ,
      Consumer<String> warn) {

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
          text(NODE_KEY).orElse(null),
          duration(INTERVAL, DEFAULT_INTERVAL, Duration.ofMillis(100)),
          duration(RESTART_WITHIN, DEFAULT_RESTART_WITHIN, Duration.ZERO));
    }

    private Optional<String> text(String key) {
      Object value = given.get(key);
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
      warn.accept(
          DATASET_NAMES
              + ": names without "
              + DATASET_NAMESPACE
              + " name nothing; they are not told");
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
            "topics have no namespace, so no dataset is told: set "
                + BOOTSTRAP
                + " or "
                + KAFKA_NAMESPACE);
      }
      return first.map(
          server -> "kafka://" + lowerCase(server.group(1)) + ":" + port(server.group(2)));
    }

    private static String port(String given) {
      return given == null ? "9092" : given;
    }

    private static String lowerCase(String host) {
      return host.toLowerCase(java.util.Locale.ROOT);
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
            "there is nowhere to send events to: set "
                + URL
                + ", or "
                + TOPIC
                + " and "
                + BOOTSTRAP);
        return null;
      }
      return new Topic(text(TOPIC).orElse(DEFAULT_TOPIC), producer());
    }

    /**
     * How the worker itself reaches the brokers, then what its producers add, then what was said
     * here.
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
      given.forEach(
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
        warn.accept(SCHEMA_READ + ": no schema can be read without " + REGISTRY_URL);
      }
      Optional<String> user =
          text(REGISTRY_USER_INFO)
              .or(() -> text(REGISTRY_ENV).map(environ).filter(value -> !value.isBlank()));
      return url.map(found -> new Registry(found, user.map(Password::new).orElse(null)))
          .orElse(null);
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
        // Its message shows the URL, and with it a password that somebody may have put there.
      }
      warn.accept(key + ": expected http://HOST or https://HOST");
      return Optional.empty();
    }

    private Duration duration(String key, Duration otherwise, Duration least) {
      Optional<String> text = text(key);
      Matcher found = DURATION.matcher(text.orElse(""));
      if (text.isPresent() && !found.matches()) {
        warn.accept(key + ": expected a duration such as 500ms, 30s or 5m");
      }
      if (text.isEmpty() || !found.matches()) {
        return otherwise;
      }
      long amount = Long.parseLong(found.group(1));
      Duration said =
          switch (found.group(2) == null ? "s" : found.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofSeconds(amount);
          };
      return said.compareTo(least) < 0 ? least : said;
    }
  }
}
