package headwater.connect;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The properties of the worker in this JVM: a transform does not get them, but the command line
 * names their file.
 */
final class WorkerProperties {
  private static final Pattern COMMAND =
      Pattern.compile("\\S*(?:ConnectDistributed|ConnectStandalone)\\s+(?:-\\S+\\s+)*(\\S+).*");

  private WorkerProperties() {}

  /** Reads the properties; empty if the JVM was started another way. */
  static Map<String, String> find() {
    return read(System.getProperty("sun.java.command", ""));
  }

  /**
   * Reads the file named on a command line, without values that a config provider would have to
   * resolve.
   */
  static Map<String, String> read(String command) {
    Map<String, String> found = new HashMap<>();
    Matcher named = COMMAND.matcher(command);
    if (named.matches()) {
      Properties properties = new Properties();
      try (Reader file = Files.newBufferedReader(Path.of(named.group(1)), StandardCharsets.UTF_8)) {
        properties.load(file);
      } catch (IOException | IllegalArgumentException unreadable) {
        return found;
      }
      for (String key : properties.stringPropertyNames()) {
        String value = properties.getProperty(key);
        if (!value.contains("${")) {
          found.put(key, value);
        }
      }
    }
    return found;
  }
}
