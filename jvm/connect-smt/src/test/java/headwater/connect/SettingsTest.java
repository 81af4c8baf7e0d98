package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.Test;

class SettingsTest {
  private final List<String> warnings = new ArrayList<>();
  private final Map<String, String> worker = new HashMap<>();
  private final Map<String, String> environ = new HashMap<>();

  @Test
  void byDefaultTheWorkersBrokersAreUsed() {
    worker.put("bootstrap.servers", "Broker-1:9092,broker-2:9092");

    Settings settings = read(Map.of());

    assertThat(settings.target())
        .isEqualTo(
            new Settings.Topic(
                "headwater-lineage", Map.of("bootstrap.servers", "Broker-1:9092,broker-2:9092")));
    assertThat(settings.kafkaNamespace()).isEqualTo("kafka://broker-1:9092");
    assertThat(settings.jobNamespace()).isEqualTo("kafka-connect");
    assertThat(settings.interval()).isEqualTo(Duration.ofSeconds(60));
    assertThat(warnings).isEmpty();
  }

  @Test
  void theWorkersSecurityIsUsedAndThatOfItsProducersTakesPrecedence() {
    worker.put("bootstrap.servers", "b:9093");
    worker.put("security.protocol", "SSL");
    worker.put("ssl.truststore.location", "/worker.jks");
    worker.put("producer.ssl.truststore.location", "/producer.jks");
    worker.put("group.id", "connect");

    Settings settings = read(Map.of("producer.linger.ms", 7));

    assertThat(((Settings.Topic) settings.target()).producer())
        .isEqualTo(
            Map.of(
                "bootstrap.servers", "b:9093",
                "security.protocol", "SSL",
                "ssl.truststore.location", "/producer.jks",
                "linger.ms", "7"));
  }

  @Test
  void aServiceTakesPrecedenceOverATopicAndHasADefaultPath() {
    Settings bare = read(Map.of("openlineage.url", "http://lineage:5000", "lineage.topic", "t"));
    Settings full =
        read(Map.of("openlineage.url", "https://host/x/lineage", "kafka.namespace", "kafka://k:1"));

    assertThat(((Settings.Service) bare.target()).endpoint())
        .isEqualTo(URI.create("http://lineage:5000/api/v1/lineage"));
    assertThat(((Settings.Service) full.target()).endpoint())
        .isEqualTo(URI.create("https://host/x/lineage"));
  }

  @Test
  void invalidValuesAreLoggedWithoutTheValueAndIgnored() {
    worker.put("bootstrap.servers", "b:9092");

    Settings settings =
        read(
            Map.of(
                "openlineage.url", "user:secret@nowhere",
                "emission.interval", "secret",
                "dataset.names", "secret",
                "value.converter.schema.read", "true"));

    assertThat(settings.target()).isInstanceOf(Settings.Topic.class);
    assertThat(settings.interval()).isEqualTo(Duration.ofSeconds(60));
    assertThat(settings.otherNames()).isEmpty();
    assertThat(warnings).hasSize(4).noneMatch(warning -> warning.contains("secret"));
  }

  @Test
  void withoutServiceAndBrokersThereIsNoTarget() {
    Settings settings = read(Map.of());

    assertThat(settings.target()).isNull();
    assertThat(warnings).anyMatch(warning -> warning.contains("openlineage.url"));
  }

  @Test
  void credentialsOfTheRegistryComeFromTheConfigurationOrTheEnvironment() {
    environ.put("REGISTRY", "me:pass");
    Map<String, Object> configs = new HashMap<>();
    configs.put("value.converter.schema.read", true);
    configs.put("schema.registry.url", "http://registry:8081");
    configs.put("schema.registry.basic.auth.env", "REGISTRY");

    Settings.Registry fromEnvironment = read(configs).registry();
    configs.put("schema.registry.basic.auth.user.info", new Password("you:word"));
    Settings.Registry fromConfiguration = read(configs).registry();

    assertThat(fromEnvironment.userInfo().value()).isEqualTo("me:pass");
    assertThat(fromConfiguration.userInfo().value()).isEqualTo("you:word");
    assertThat(fromConfiguration.toString()).doesNotContain("word");
  }

  @Test
  void durationsHaveUnitsAndBareNumbersAreSeconds() {
    Map<String, Duration> expected =
        Map.of(
            "250ms", Duration.ofMillis(250),
            "5", Duration.ofSeconds(5),
            "5s", Duration.ofSeconds(5),
            "2m", Duration.ofMinutes(2),
            "1h", Duration.ofHours(1),
            "0", Duration.ofMillis(100));

    expected.forEach(
        (text, duration) ->
            assertThat(read(Map.of("emission.interval", text)).interval()).isEqualTo(duration));
  }

  @Test
  void theDocumentationListsEveryKey() throws IOException {
    String page = Files.readString(Path.of("..", "..", "docs", "kafka-connect-smt.md"));

    assertThat(Settings.definition().names())
        .allSatisfy(key -> assertThat(page).contains("`" + key + "`"));
  }

  private Settings read(Map<String, ?> configs) {
    return Settings.read(configs, worker, environ::get, warnings::add);
  }
}
