package headwater.signing;

/**
 * A text is no JSON, or none that a signature may cover; the message says where, and shows nothing
 * of the text.
 */
public final class InvalidJsonException extends RuntimeException {
  InvalidJsonException(String message) {
    super(message);
  }
}
