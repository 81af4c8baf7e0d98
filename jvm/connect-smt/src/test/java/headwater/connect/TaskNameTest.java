package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class TaskNameTest {
  @Test
  void theTagsOfAPluginsMetricsNameConnectorAndTask() {
    assertThat(TaskName.ofTags(Map.of("connector", "orders", "task", "2", "transformation", "l")))
        .contains(new TaskName("orders", 2));
  }

  @Test
  void tagsWithoutAConnectorGiveNoName() {
    assertThat(TaskName.ofTags(Map.of("client-id", "x"))).isEmpty();
  }

  @Test
  void theLogContextNamesThemWhateverTheConnectorsNameContains() {
    assertThat(TaskName.ofLogContext("[orders|task-0] ")).contains(new TaskName("orders", 0));
    assertThat(TaskName.ofLogContext("[a|b [x]|task-11|offsets] "))
        .contains(new TaskName("a|b [x]", 11));
    assertThat(TaskName.ofLogContext("[orders|worker] ")).isEmpty();
    assertThat(TaskName.ofLogContext(null)).isEmpty();
  }

  @Test
  void theTasksThreadNamesThemThoughTheNameContainsHyphens() {
    assertThat(TaskName.ofThread("task-thread-orders-to-s3-4"))
        .contains(new TaskName("orders-to-s3", 4));
    assertThat(TaskName.ofThread("main")).isEmpty();
  }
}
