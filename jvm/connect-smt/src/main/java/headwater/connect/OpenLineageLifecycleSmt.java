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
 * Tells which topics a connector's records go to or come from, and what they look like, as
 * OpenLineage events.
 *
 * <p>Every record is returned as it came, the same object. Whatever goes wrong in here is logged
 * and goes no further: a connector runs with it exactly as without it. One instance belongs to one
 * task.
 */
public final class OpenLineageLifecycleSmt<R extends ConnectRecord<R>>
    implements Transformation<R>, Monitorable, Versioned {
  private static final Logger LOGGER = LoggerFactory.getLogger(OpenLineageLifecycleSmt.class);

  private final AtomicLong faults = new AtomicLong();
  private Settings settings;
  private TaskName name;
  private TaskObserver observer;
  private boolean isThreadAsked;
  private boolean isClosed;

  /** Called first, before the task starts; on some workers in the task's log context. */
  @Override
  public void configure(Map<String, ?> configs) {
    try {
      settings =
          Settings.read(
              configs, WorkerProperties.find(), System::getenv, OpenLineageLifecycleSmt::warn);
      learn(TaskName.ofLogContext(MDC.get(TaskName.LOG_CONTEXT)));
    } catch (Throwable fault) {
      tell("configure", fault);
    }
  }

  /** Called from Connect 4.1 on, before or after `configure`. */
  @Override
  public void withPluginMetrics(PluginMetrics metrics) {
    try {
      learn(TaskName.ofTags(metrics.metricName("lineage", "", new LinkedHashMap<>()).tags()));
    } catch (Throwable fault) {
      tell("withPluginMetrics", fault);
    }
  }

  @Override
  public R apply(R record) {
    try {
      TaskObserver watching = observer;
      if (watching != null) {
        watching.see(record);
      } else if (!isThreadAsked) {
        learnFromThread(record);
      }
    } catch (Throwable fault) {
      tell("apply", fault);
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
      tell("close", fault);
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

  /** The last way to learn the name is the thread that carries the first record. */
  private void learnFromThread(R first) {
    isThreadAsked = true;
    learn(TaskName.ofThread(Thread.currentThread().getName()));
    if (observer != null) {
      observer.see(first);
    } else if (settings != null && settings.target() != null && !isClosed) {
      warn("the connector's name is not known, so nothing is told: set " + Settings.CONNECTOR_NAME);
    }
  }

  /** Begins to watch, once it is known for whom and where to tell it. */
  private void learn(Optional<TaskName> told) {
    if (name == null) {
      name = told.orElse(null);
      if (name != null && observer != null) {
        observer.isTask(name.task());
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
   * At 1, 2, 4, 8 … faults: one in each record must not fill the log. The message may hold values,
   * so only its kind is told.
   */
  private void tell(String where, Throwable fault) {
    long count = faults.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      LOGGER.warn(
          "lineage: {} failed ({} times), the data is not touched: {}",
          where,
          count,
          fault.getClass().getName());
    }
  }
}
