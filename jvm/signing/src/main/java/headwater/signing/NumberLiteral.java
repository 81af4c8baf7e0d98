package headwater.signing;

/** A JSON number as written: a signature covers the text, and `1.0` and `1` are different texts. */
public record NumberLiteral(String text) {}
