package headwater.connect;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.types.Password;

/**
 * The transform's settings, from its configuration and its environment. Invalid values are logged
 * and ignored.
 *
 * @param connectorName null to detect it
 * @param connectorClass null to detect it
 * @param topics to report before a record passes
 * @param jobNamespace of the connector's job
 * @param kafkaNamespace of the topics; null if no broker is known
 * @param otherNamespace of `otherNames`; null for none
 * @param otherNames the datasets on the connector's other side
 * @param registry where to read schemas; null for none
 * @param target where events are sent; null for nowhere
 * @param signing how events are signed; null for unsigned
 * @param interval between two events of a run without changes
 * @param restartWithin how soon after the last task's end a task must start for the connector's run
 *     to continue
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
    Signing signing,
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
  static final String CHAIN_FOLDER = "chain.folder";
  static final String INTERVAL = "emission.interval";
  static final String RESTART_WITHIN = "restart.within";

  static final String DEFAULT_TOPIC = "headwater-lineage";

  /** The key file, and the folder that stores the chain's head, or null. */
  record Signing(String keyFile, String chainFolder) {}

  /** A schema registry; `userInfo` is `user:password`, or null. */
  record Registry(URI url, Password userInfo) {}

  /** Where events are sent. */
  sealed interface Target {
    /** Its name in logs and metrics, without credentials. */
    String displayName();
  }

  /** A lineage service; `tokenEnv` is the environment variable with the bearer token, or null. */
  record Service(URI endpoint, String tokenEnv) implements Target {
    @Override
    public String displayName() {
      String port = endpoint.getPort() < 0 ? "" : ":" + endpoint.getPort();
      return endpoint.getScheme() + "://" + endpoint.getHost() + port + endpoint.getRawPath();
    }
  }

  /** A topic; `producer` is the configuration of a producer for it, with secrets. */
  record Topic(String name, Map<String, String> producer) implements Target {
    @Override
    public String displayName() {
      return "kafka://" + producer.get(BOOTSTRAP) + "/" + name;
    }

    @Override
    public String toString() {
      return displayName();
    }
  }

  /** The same, but the run ends with its last task. */
  Settings withoutRestart() {
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
        signing,
        interval,
        Duration.ZERO);
  }

  /**
   * The keys as Connect shows them. To Connect all are plain text, so that it refuses no connector
   * because of them.
   */
  static ConfigDef definition() {
    ConfigDef keys = new ConfigDef();
    ConfigDef.Importance high = ConfigDef.Importance.HIGH;
    ConfigDef.Importance medium = ConfigDef.Importance.MEDIUM;
    ConfigDef.Importance low = ConfigDef.Importance.LOW;
    text(keys, URL, high, "The URL of the lineage service to post events to.");
    text(
        keys,
        TOKEN_ENV,
        medium,
        "The environment variable with the bearer token for the lineage service.");
    text(
        keys,
        TOPIC,
        high,
        "The topic for events if no service is set; headwater-lineage by default.");
    text(keys, BOOTSTRAP, medium, "The brokers; those of the worker by default.");
    text(keys, NODE_KEY, medium, "The file with the node's key, which signs events.");
    text(
        keys,
        CHAIN_FOLDER,
        low,
        "The worker's folder for the position of its record, from which the next start continues.");
    text(
        keys,
        INTERVAL,
        medium,
        "How often a run's counters are reported, such as 30s; 60s by default.");
    text(
        keys,
        RESTART_WITHIN,
        low,
        "How soon a task must be back for the run to continue; 5s by default.");
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
        "The names of the datasets on the connector's other side, separated by commas.");
    text(keys, CONNECTOR_NAME, low, "The connector's name, if it cannot be detected.");
    text(keys, CONNECTOR_CLASS, low, "The connector's class, if it cannot be detected.");
    text(keys, TOPICS, low, "Topics to report before a record passes.");
    text(
        keys,
        SCHEMA_READ,
        medium,
        "true to read the schemas of values that are bytes from the registry.");
    text(keys, REGISTRY_URL, medium, "The URL of the schema registry, with Confluent's API.");
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
   * @param configs the transform's configuration
   * @param worker the worker's own properties, if they could be read
   * @param environ looks up an environment variable; null if unset
   * @param warn receives a message for each value that is ignored; none contains a value
   */
  static Settings read(
      Map<String, ?> configs,
      Map<String, String> worker,
      Function<String, String> environ,
      Consumer<String> warn) {
    return new SettingsReader(configs, worker, environ, warn).settings();
  }
}
