package headwater.signing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerTest {
  private static final String ITS_OWN =
      "{\"code\": 403, \"message\": \"tampered\", \"retriable\": false}";
  private static final String TO_ENROL = "{\"code\": 403, \"retriable\": true}";

  @ParameterizedTest
  @CsvSource({
    "200, true, false", "201, true, false", "302, false, false", "400, false, true",
    "401, false, false", "403, false, false", "404, false, true", "407, false, false",
    "413, false, true", "422, false, true", "429, false, false", "503, false, false"
  })
  void aStatusSaysWhetherToTryAgain(int status, boolean isAcknowledged, boolean isRefused) {
    Answer answer = answer(status, "");

    assertThat(answer.isAcknowledged()).isEqualTo(isAcknowledged);
    assertThat(answer.isRefused()).isEqualTo(isRefused);
  }

  @Test
  void whatIsForbiddenWaitsUnlessItIsForItsOwnSake() {
    assertThat(answer(403, ITS_OWN).isRefused()).isTrue();
    assertThat(answer(403, TO_ENROL).isRefused()).isFalse();
    assertThat(answer(403, "no JSON").isRefused()).isFalse();
    assertThat(answer(403, TO_ENROL).toString()).contains("enrol the node's key");
    assertThat(answer(403, ITS_OWN)).hasToString("status 403");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<!DOCTYPE html>", "\uFEFF<html>", "\r\n \t<script>", "<?xml ?>"})
  void aPageIsNoWordOfAService(String page) {
    for (int status : new int[] {200, 201, 403, 404}) {
      assertThat(answer(status, page).isAcknowledged()).isFalse();
      assertThat(answer(status, page).isRefused()).isFalse();
    }
    assertThat(answer(422, page).isRefused()).isTrue();
  }

  private static Answer answer(int status, String body) {
    return new Answer(status, body.getBytes(StandardCharsets.UTF_8));
  }
}
