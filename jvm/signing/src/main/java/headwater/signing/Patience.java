package headwater.signing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Reads what another program sends, and does not wait for it without end. */
public final class Patience {
  private Patience() {}

  /**
   * The first bytes of a body of {@link java.net.http.HttpClient}, `most` of them at most.
   *
   * @throws IOException if it breaks off, or has not come to its end or to so many within
   *     `patience`
   */
  public static byte[] read(InputStream body, int most, Duration patience) throws IOException {
    Executor later = CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS);
    // To close it is what ends a read that waits.
    CompletableFuture<Void> end = CompletableFuture.runAsync(() -> close(body), later);
    try {
      return body.readNBytes(most);
    } finally {
      end.cancel(false);
    }
  }

  private static void close(InputStream body) {
    try {
      body.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
