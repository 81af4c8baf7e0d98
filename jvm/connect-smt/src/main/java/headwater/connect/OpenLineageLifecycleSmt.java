package headwater.connect;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.components.Versioned;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Reports which topics a connector writes or reads, and their schemas, as OpenLineage events.
 *
 * <p>Returns every record unchanged, the same object. Faults in here are logged and never thrown: a
 * connector runs exactly as it would without the transform. One instance belongs to one task.
 */
public final class OpenLineageLifecycleSmt<R extends ConnectRecord<R>>
    implements Transformation<R>, Monitorable, Versioned {
  private static final Logger LOGGER = LoggerFactory.getLogger(OpenLineageLifecycleSmt.class);

  private final AtomicLong faults = new AtomicLong();
  private Settings settings;
  private TaskName name;
  private TaskObserver observer;
  private boolean isThreadNameTried;
  private boolean isClosed;

  /** Called before the task starts; on some workers in the task's log context. */
  @Override
  public void configure(Map<String, ?> configs) {
    try {
      settings =
          Settings.read(
              configs, WorkerProperties.find(), System::getenv, OpenLineageLifecycleSmt::warn);
      start(TaskName.ofLogContext(MDC.get(TaskName.LOG_CONTEXT)));
    } catch (Throwable fault) {
      logFault("configure", fault);
    }
  }

  /** Called from Connect 4.1 on, before or after `configure`. */
  @Override
  public void withPluginMetrics(PluginMetrics metrics) {
    try {
      start(TaskName.ofTags(metrics.metricName("lineage", "", new LinkedHashMap<>()).tags()));
    } catch (Throwable fault) {
      logFault("withPluginMetrics", fault);
    }
  }

  @Override
  public R apply(R record) {
    try {
      TaskObserver current = observer;
      if (current != null) {
        current.observe(record);
      } else if (!isThreadNameTried) {
        startFromThread(record);
      }
    } catch (Throwable fault) {
      logFault("apply", fault);
    }
    return record;
  }

  @Override
  public void close() {
    try {
      isClosed = true;
      if (observer != null) {
        observer.close();
        observer = null;
      }
    } catch (Throwable fault) {
      logFault("close", fault);
    }
  }

  @Override
  public ConfigDef config() {
    return Settings.definition();
  }

  @Override
  public String version() {
    return Events.VERSION;
  }

  /** The last resort for the connector's name: the thread that processes the first record. */
  private void startFromThread(R first) {
    isThreadNameTried = true;
    start(TaskName.ofThread(Thread.currentThread().getName()));
    if (observer != null) {
      observer.observe(first);
    } else if (settings != null && settings.target() != null && !isClosed) {
      warn(
          "the connector's name is unknown, so nothing is reported: set "
              + Settings.CONNECTOR_NAME);
    }
  }

  /** Starts to observe, once the connector's name and the target are known. */
  private void start(Optional<TaskName> found) {
    if (name == null) {
      name = found.orElse(null);
      if (name != null && observer != null) {
        observer.setTask(name.task());
      }
    }
    if (settings == null || settings.target() == null || observer != null || isClosed) {
      return;
    }
    String connector =
        settings.connectorName() != null || name == null
            ? settings.connectorName()
            : name.connector();
    if (connector != null) {
      Integer task = name == null ? null : name.task();
      observer = Emissions.to(settings.target()).open(connector, task, settings);
    }
  }

  private static void warn(String what) {
    LOGGER.warn("lineage: {}", what);
  }

  /**
   * Logs at 1, 2, 4, 8 … faults, so that one per record does not fill the log; and only the class,
   * since the message may contain values.
   */
  private void logFault(String where, Throwable fault) {
    long count = faults.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      LOGGER.warn(
          "lineage: {} failed ({} times), records pass unchanged: {}",
          where,
          count,
          fault.getClass().getName());
    }
  }
}
