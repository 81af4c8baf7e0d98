package org.apache.kafka.common.metrics;

/** Stands in where Kafka has none yet; nobody makes one there. */
public interface PluginMetrics {}
