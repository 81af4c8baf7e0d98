package org.apache.kafka.common.metrics;

/** Substitute for older Kafka versions, which never create one. */
public interface PluginMetrics {}
