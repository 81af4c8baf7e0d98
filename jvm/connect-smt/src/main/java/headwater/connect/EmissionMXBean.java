package headwater.connect;

/**
 * What JMX shows of the emission to one target. The names are those that `headwater` gives the same
 * counters elsewhere.
 */
public interface EmissionMXBean {
  /** Events that the target took. */
  long getlineage_events_sent_total();

  /** Events that were lost: too many waited, and these were the oldest. */
  long getlineage_events_dropped_total();

  /** Events that the target will never take. */
  long getlineage_events_refused_total();

  /** Events that wait. */
  int getlineage_events_waiting();
}
