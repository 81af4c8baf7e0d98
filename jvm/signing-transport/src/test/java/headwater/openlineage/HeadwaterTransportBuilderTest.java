package headwater.openlineage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.openlineage.client.transports.NoopTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeadwaterTransportBuilderTest {
  @TempDir Path folder;

  @Test
  void aHomeThatCannotBeWrittenFailsNoDriver() throws IOException {
    HeadwaterConfig config = new HeadwaterConfig();
    config.setHome(Files.createFile(folder.resolve("a-file")).toString());

    assertThat(new HeadwaterTransportBuilder().build(config)).isInstanceOf(NoopTransport.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "lineage:5000/api/v1/lineage", "http:///lineage", "ftp://lineage"})
  void anInvalidUrlFailsNoDriver(String url) {
    HeadwaterConfig config = config();
    config.setUrl(url);

    assertThat(new HeadwaterTransportBuilder().build(config)).isInstanceOf(NoopTransport.class);
    assertThatThrownBy(config::check).hasMessageStartingWith("url: expected");
  }

  @Test
  void anInvalidUrlIsNotShown() {
    HeadwaterConfig config = config();
    config.setUrl("http://me:se%cret@lineage:5000");

    assertThatThrownBy(config::check).hasMessageNotContaining("cret");
  }

  @Test
  void anInvalidSettingIsNamedAndFailsNoDriver() {
    Map<String, Consumer<HeadwaterConfig>> wrong =
        Map.of(
            "url", config -> config.setUrl(null),
            "queueSize", config -> config.setQueueSize(0),
            "spoolMb", config -> config.setSpoolMb(-1),
            "drainTimeoutMs", config -> config.setDrainTimeoutMs(-1),
            "heartbeatMs", config -> config.setHeartbeatMs(0));

    wrong.forEach(
        (setting, mistake) -> {
          HeadwaterConfig config = config();
          mistake.accept(config);

          assertThat(new HeadwaterTransportBuilder().build(config))
              .isInstanceOf(NoopTransport.class);
          assertThatThrownBy(config::check).hasMessageStartingWith(setting + ": expected");
        });
  }

  private HeadwaterConfig config() {
    HeadwaterConfig config = new HeadwaterConfig();
    config.setHome(folder.toString());
    return config;
  }
}
