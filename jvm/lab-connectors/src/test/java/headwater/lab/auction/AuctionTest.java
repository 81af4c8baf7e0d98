package headwater.lab.auction;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.lab.auction.Auction.Bid;
import headwater.lab.auction.Auction.Order;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class AuctionTest {
  /** The first numbers of SplitMix64 with the seed 1234567, as Rosetta Code lists them. */
  @Test
  void numbersAreThoseOfSplitMix64() {
    long step = 0x9e3779b97f4a7c15L;
    List<String> drawn =
        LongStream.range(0, 5)
            .map(turn -> Auction.mixed(1234567 + turn * step))
            .mapToObj(Long::toUnsignedString)
            .toList();

    assertThat(drawn)
        .containsExactly(
            "6457827717110365317",
            "3203168211198807973",
            "9817491932198370423",
            "4593380528125082431",
            "16408922859458223821");
  }

  @Test
  void anOrderIsTheSameForTheSameSeedAndAnotherForAnother() {
    assertThat(new Auction(7).order(2, 40)).isEqualTo(new Auction(7).order(2, 40));
    assertThat(new Auction(8).order(2, 40)).isNotEqualTo(new Auction(7).order(2, 40));
  }

  @Test
  void noTwoOrdersOfTwoStreamsHaveTheSameNumber() {
    Auction auction = new Auction(0);
    List<Long> ids =
        LongStream.range(0, 100)
            .boxed()
            .flatMap(
                index ->
                    List.of(auction.order(0, index).id(), auction.order(1, index).id()).stream())
            .toList();

    assertThat(ids).doesNotHaveDuplicates();
  }

  @Test
  void bidsNameTheirOrderAndHaveNumbersOfTheirOwn() {
    Auction auction = new Auction(0);
    Order order = auction.order(1, 3);

    List<Bid> bids = auction.bids(order);

    assertThat(bids).extracting(Bid::orderId).containsOnly(order.id());
    assertThat(bids).extracting(Bid::id).containsExactly(2_000_000_006L, 2_000_000_007L);
  }
}
