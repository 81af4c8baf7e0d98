package headwater.lab.suppliers;

/**
 * A supplier's turnover in an hour.
 *
 * @param supplier its name
 * @param hour the start of the hour, ISO 8601 in UTC
 * @param turnover the sum of price times quantity
 */
public record Turnover(String supplier, String hour, double turnover) {}
