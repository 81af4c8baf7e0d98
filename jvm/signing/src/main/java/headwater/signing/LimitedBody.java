package headwater.signing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Reads a response body with limits on its size and duration. */
public final class LimitedBody {
  private LimitedBody() {}

  /**
   * Reads at most the first `maxBytes` bytes of a body of {@link java.net.http.HttpClient}.
   *
   * @throws IOException if it is incomplete, or neither its end nor `maxBytes` bytes arrive within
   *     `timeout`
   */
  public static byte[] read(InputStream body, int maxBytes, Duration timeout) throws IOException {
    Executor later = CompletableFuture.delayedExecutor(timeout.toMillis(), TimeUnit.MILLISECONDS);
    // Closing the stream ends a blocked read.
    CompletableFuture<Void> end = CompletableFuture.runAsync(() -> close(body), later);
    try {
      return body.readNBytes(maxBytes);
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
