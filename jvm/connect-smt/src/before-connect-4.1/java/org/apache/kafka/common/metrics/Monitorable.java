package org.apache.kafka.common.metrics;

/**
 * Stands in where Kafka has none yet, so that a class that implements it can be loaded; nobody
 * calls it there.
 */
public interface Monitorable {
  void withPluginMetrics(PluginMetrics metrics);
}
