package headwater.lab.auction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

class AuctionSourceConnectorTest {
  @Test
  void eachTaskHasItsOwnStreamAndOneMayBeSetToFail() {
    AuctionSourceConnector connector = new AuctionSourceConnector();
    connector.start(Map.of("fail.task", "1", "seed", "7"));

    List<AuctionSettings> tasks =
        connector.taskConfigs(3).stream().map(AuctionSettings::read).toList();

    assertThat(tasks).extracting(AuctionSettings::stream).containsExactly(0, 1, 2);
    assertThat(tasks).extracting(AuctionSettings::shouldFail).containsExactly(false, true, false);
    assertThat(tasks).extracting(AuctionSettings::seed).containsOnly(7L);
  }

  @Test
  void anUnknownVersionIsRefused() {
    assertThatThrownBy(() -> AuctionSettings.read(Map.of("schema.version", "5")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("schema.version");
  }
}
