package org.apache.kafka.common.metrics;

/**
 * Substitute for older Kafka versions, so that a class that implements it can be loaded; they never
 * call it.
 */
public interface Monitorable {
  void withPluginMetrics(PluginMetrics metrics);
}
