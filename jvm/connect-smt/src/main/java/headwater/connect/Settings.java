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
 * @param signing with what events are signed; null for not at all
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

  /** With what events are signed; `chainFolder` is where the chain's end is kept, or null. */
  record Signing(String keyFile, String chainFolder) {}

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
        signing,
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
        CHAIN_FOLDER,
        low,
        "The folder in which the worker keeps how far its record went, so that the next goes on.");
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
    return new SettingsReader(given, worker, environ, warn).settings();
  }
}
