package headwater.signing;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads JSON strictly: what could be read in two ways is refused.
 *
 * <p>Gives maps in the order of the text, lists, strings, booleans, {@link NumberLiteral} and null.
 *
 * <p>Source: RFC 8259
 */
public final class JsonReader {
  /** Objects and arrays inside one another, as in the Python package. */
  static final int MAX_DEPTH = 254;

  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
  private static final char REPLACEMENT = '\uFFFD';

  private final String text;
  private int place;
  private int depth;

  private JsonReader(String text) {
    this.text = text;
  }

  /**
   * Reads one JSON text in UTF-8.
   *
   * @throws InvalidJsonException it is none, a key stands twice, or it is too deep
   */
  public static Object read(byte[] utf8) {
    JsonReader reader = new JsonReader(decoded(utf8));
    Object value = reader.value();
    reader.skipSpace();
    if (reader.place < reader.text.length()) {
      throw reader.invalid("expected the end");
    }
    return value;
  }

  private static String decoded(byte[] utf8) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    } catch (CharacterCodingException malformed) {
      throw new InvalidJsonException("the bytes are not UTF-8");
    }
  }

  private Object value() {
    skipSpace();
    return switch (peek()) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> word("true", Boolean.TRUE);
      case 'f' -> word("false", Boolean.FALSE);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object() {
    Map<String, Object> members = new LinkedHashMap<>();
    enter();
    skipSpace();
    if (!took('}')) {
      do {
        skipSpace();
        if (peek() != '"') {
          throw invalid("expected a key");
        }
        String key = string();
        skipSpace();
        expect(':');
        Object value = value();
        if (members.containsKey(key)) {
          throw invalid("a key stands twice");
        }
        members.put(key, value);
        skipSpace();
      } while (took(','));
      expect('}');
    }
    depth--;
    return members;
  }

  private List<Object> array() {
    List<Object> items = new ArrayList<>();
    enter();
    skipSpace();
    if (!took(']')) {
      do {
        items.add(value());
        skipSpace();
      } while (took(','));
      expect(']');
    }
    depth--;
    return items;
  }

  private void enter() {
    place++;
    if (++depth > MAX_DEPTH) {
      throw invalid("more than " + MAX_DEPTH + " levels deep");
    }
  }

  private String string() {
    StringBuilder read = new StringBuilder();
    expect('"');
    while (!took('"')) {
      char next = peek();
      if (next < ' ') {
        throw invalid("a control in a string");
      }
      place++;
      if (next == '\\') {
        escape(read);
      } else {
        read.append(next);
      }
    }
    return read.toString();
  }

  private void escape(StringBuilder read) {
    char kind = peek();
    place++;
    switch (kind) {
      case '"', '\\', '/' -> read.append(kind);
      case 'b' -> read.append('\b');
      case 'f' -> read.append('\f');
      case 'n' -> read.append('\n');
      case 'r' -> read.append('\r');
      case 't' -> read.append('\t');
      case 'u' -> unicode(read);
      default -> throw invalid("an unknown escape");
    }
  }

  /**
   * A surrogate without its other half stands for no character, so it becomes the replacement
   * character.
   */
  private void unicode(StringBuilder read) {
    char unit = codeUnit();
    if (Character.isHighSurrogate(unit) && text.startsWith("\\u", place)) {
      int before = place;
      place += 2;
      char low = codeUnit();
      if (Character.isLowSurrogate(low)) {
        read.append(unit).append(low);
        return;
      }
      place = before;
    }
    read.append(Character.isSurrogate(unit) ? REPLACEMENT : unit);
  }

  private char codeUnit() {
    int unit = 0;
    for (int end = place + 4; place < end; place++) {
      char next = peek();
      int digit = next < 128 ? Character.digit(next, 16) : -1;
      if (digit < 0) {
        throw invalid("expected four hex digits");
      }
      unit = unit << 4 | digit;
    }
    return (char) unit;
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, place)) {
      throw invalid("expected a value");
    }
    place += word.length();
    return value;
  }

  private NumberLiteral number() {
    Matcher found = NUMBER.matcher(text).region(place, text.length());
    if (!found.lookingAt()) {
      throw invalid("expected a value");
    }
    place = found.end();
    return new NumberLiteral(found.group());
  }

  private void skipSpace() {
    while (place < text.length() && " \t\n\r".indexOf(text.charAt(place)) >= 0) {
      place++;
    }
  }

  private char peek() {
    if (place >= text.length()) {
      throw invalid("it ends too early");
    }
    return text.charAt(place);
  }

  private boolean took(char wanted) {
    if (peekOr(wanted)) {
      place++;
      return true;
    }
    return false;
  }

  private boolean peekOr(char wanted) {
    return place < text.length() && text.charAt(place) == wanted;
  }

  private void expect(char wanted) {
    if (!took(wanted)) {
      throw invalid("expected " + wanted);
    }
  }

  private InvalidJsonException invalid(String what) {
    return new InvalidJsonException("JSON: " + what + " at character " + place);
  }
}
