package headwater.lab.auction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void theNumberDueFollowsTheElapsedTime() {
    Pace pace = new Pace(10, Long.MAX_VALUE);

    assertThat(pace.due(0, 0, SECOND / 2)).isEqualTo(5);
    assertThat(pace.due(5, 5, SECOND / 2)).isZero();
  }

  @Test
  void afterALongHaltNoMoreThanASecondsWorthIsDueAtOnce() {
    assertThat(new Pace(10, Long.MAX_VALUE).due(0, 0, 60 * SECOND)).isEqualTo(10);
  }

  @Test
  void theLimitHoldsAlsoAfterARestart() {
    Pace pace = new Pace(10, 100);

    assertThat(pace.due(97, 0, SECOND)).isEqualTo(3);
    assertThat(pace.due(120, 0, SECOND)).isZero();
  }
}
