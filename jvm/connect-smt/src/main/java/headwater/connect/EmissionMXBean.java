package headwater.connect;

/**
 * JMX counters of the emission to one target. The names are those of the same counters elsewhere in
 * `headwater`.
 */
public interface EmissionMXBean {
  /** Events that the target acknowledged. */
  long getlineage_events_sent_total();

  /** Events dropped because the queue was full, the oldest first. */
  long getlineage_events_dropped_total();

  /** Events that the target refused permanently. */
  long getlineage_events_refused_total();

  /** Events waiting for delivery. */
  int getlineage_events_waiting();
}
