package headwater.connect;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The connector and the number of a task, from whatever the worker provides.
 *
 * @param task its number; null if only the connector is known
 */
record TaskName(String connector, Integer task) {
  /** The MDC key with which the worker marks a task's log lines. Source: KIP-449 */
  static final String LOG_CONTEXT = "connector.context";

  private static final Pattern CONTEXT =
      Pattern.compile("\\[(.+)\\|task-(\\d{1,9})(?:\\|.*)?]\\s*");
  private static final Pattern THREAD = Pattern.compile("task-thread-(.+)-(\\d{1,9})");

  /** From the tags of a plugin's metrics, which Kafka sets from Connect 4.1 on. Source: KIP-877 */
  static Optional<TaskName> ofTags(Map<String, String> tags) {
    String connector = tags.get("connector");
    return connector == null
        ? Optional.empty()
        : Optional.of(new TaskName(connector, number(tags.get("task"))));
  }

  /** From the log context, which is set while a task is created; null for none. */
  static Optional<TaskName> ofLogContext(String context) {
    return matched(CONTEXT, context);
  }

  /** From the name of the thread that processes a task's records. */
  static Optional<TaskName> ofThread(String name) {
    return matched(THREAD, name);
  }

  private static Optional<TaskName> matched(Pattern pattern, String text) {
    Matcher found = pattern.matcher(text == null ? "" : text);
    return found.matches()
        ? Optional.of(new TaskName(found.group(1), number(found.group(2))))
        : Optional.empty();
  }

  private static Integer number(String text) {
    return text != null && text.matches("\\d{1,9}") ? Integer.valueOf(text) : null;
  }
}
