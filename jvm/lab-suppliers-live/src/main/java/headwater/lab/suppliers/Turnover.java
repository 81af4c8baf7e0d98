package headwater.lab.suppliers;

/**
 * What a supplier sold in an hour.
 *
 * @param supplier its name
 * @param hour when the hour begins, ISO 8601 in UTC
 * @param turnover the sum of price times quantity
 */
public record Turnover(String supplier, String hour, double turnover) {}
