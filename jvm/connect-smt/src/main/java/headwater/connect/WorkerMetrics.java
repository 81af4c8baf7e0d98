package headwater.connect;

import headwater.connect.RunUpdate.Kind;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Reads a connector's class, and whether it is a source or a sink, from the worker's own metrics.
 */
final class WorkerMetrics {
  private static final String SAFE = "[\\w-%. \t]*"; // Kafka quotes all other names

  /**
   * @param connectorClass null if this worker runs only tasks of the connector, not the connector
   *     itself
   */
  record Connector(Kind kind, String connectorClass) {}

  private WorkerMetrics() {}

  /** Looks up a connector. Source: KIP-196, "connector-metrics" */
  static Connector of(String connector) {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    String name = connector.matches(SAFE) ? connector : ObjectName.quote(connector);
    String connectorClass =
        attribute(server, "type=connector-metrics,connector=" + name, "connector-class");
    Kind kind = Kind.UNKNOWN;
    if (exists(server, "type=source-task-metrics,connector=" + name + ",*")) {
      kind = Kind.SOURCE;
    } else if (exists(server, "type=sink-task-metrics,connector=" + name + ",*")) {
      kind = Kind.SINK;
    }
    return new Connector(kind, connectorClass);
  }

  private static String attribute(MBeanServer server, String name, String attribute) {
    try {
      return String.valueOf(
          server.getAttribute(new ObjectName("kafka.connect:" + name), attribute));
    } catch (JMException absent) {
      return null;
    }
  }

  private static boolean exists(MBeanServer server, String pattern) {
    try {
      return !server.queryNames(new ObjectName("kafka.connect:" + pattern), null).isEmpty();
    } catch (JMException absent) {
      return false;
    }
  }
}
