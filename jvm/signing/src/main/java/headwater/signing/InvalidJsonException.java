package headwater.signing;

/**
 * A text is not JSON, or ambiguous, so that it cannot be signed. The message gives the position,
 * and contains nothing of the text.
 */
public final class InvalidJsonException extends RuntimeException {
  InvalidJsonException(String message) {
    super(message);
  }
}
