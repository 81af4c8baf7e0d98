package headwater.signing;

/**
 * A JSON number as it was written: `1.0` and `1` are two texts, and a signature covers the text.
 */
public record NumberLiteral(String text) {}
