package headwater.lab.auction;

import java.time.Instant;
import java.util.List;

/**
 * Generated orders, and bids for them, deterministic for a seed.
 *
 * <p>Orders are in streams, numbered from 0, and have an index in their stream. Prices and bidders
 * depend only on the seed and the order's number, so that any program can compute what must have
 * been written.
 */
record Auction(long seed) {
  static final int BIDS_PER_ORDER = 2;
  static final List<String> SUPPLIERS = List.of("acme", "brix", "corvo", "delta", "elm");
  private static final List<String> CURRENCIES = List.of("EUR", "USD");
  private static final long ORDERS_PER_STREAM = 1_000_000_000L;
  private static final Instant FIRST = Instant.parse("2026-01-01T00:00:00Z");

  /** An order, with the fields of its newest schema version. */
  record Order(
      long id,
      String supplier,
      int quantity,
      long priceCents,
      Instant orderedAt,
      String currency,
      double discount) {
    double price() {
      return priceCents / 100.0;
    }
  }

  /** A supplier's price for an order. */
  record Bid(long id, long orderId, String supplier, long amountCents, Instant bidTime) {}

  Order order(int stream, long index) {
    long id = stream * ORDERS_PER_STREAM + index;
    return new Order(
        id,
        SUPPLIERS.get(drawn(id, 1, SUPPLIERS.size())),
        1 + drawn(id, 2, 20),
        100 + drawn(id, 3, 100_000),
        FIRST.plusSeconds(index),
        CURRENCIES.get(drawn(id, 4, CURRENCIES.size())),
        drawn(id, 5, 50) / 100.0);
  }

  List<Bid> bids(Order order) {
    return List.of(bid(order, 0), bid(order, 1));
  }

  private Bid bid(Order order, int number) {
    long id = order.id() * BIDS_PER_ORDER + number;
    return new Bid(
        id,
        order.id(),
        SUPPLIERS.get(drawn(id, 6, SUPPLIERS.size())),
        100 + drawn(id, 7, 100_000),
        order.orderedAt().plusSeconds(number));
  }

  /** A pseudo-random number from 0 to below `bound`, determined by the seed, `id` and `what`. */
  private int drawn(long id, int what, int bound) {
    return (int) Long.remainderUnsigned(mixed(seed + mixed(id * 31 + what)), bound);
  }

  /**
   * One step of SplitMix64.
   *
   * <p>Source: https://prng.di.unimi.it/splitmix64.c
   */
  static long mixed(long state) {
    long z = state + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
