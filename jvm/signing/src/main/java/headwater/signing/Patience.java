package headwater.signing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Reads a response body with limits on its size and its total duration. */
public final class Patience {
  private Patience() {}

  /**
   * At most the first `most` bytes of a body of {@link java.net.http.HttpClient}.
   *
   * @throws IOException if it breaks off, or neither its end nor `most` bytes arrive within
   *     `patience`
   */
  public static byte[] read(InputStream body, int most, Duration patience) throws IOException {
    Executor later = CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS);
    // Closing the stream ends a blocked read.
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
