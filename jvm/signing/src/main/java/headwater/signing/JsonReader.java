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
 * Reads JSON strictly: ambiguous texts are refused.
 *
 * <p>Returns maps in the order of the text, lists, strings, booleans, {@link NumberLiteral} and
 * null.
 *
 * <p>Source: RFC 8259
 */
public final class JsonReader {
  /** Limit on nested objects and arrays, the same as in the Python package. */
  static final int MAX_DEPTH = 254;

  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
  private static final char REPLACEMENT = '\uFFFD';

  private final String text;
  private int position;
  private int depth;

  private JsonReader(String text) {
    this.text = text;
  }

  /**
   * Reads one JSON text in UTF-8.
   *
   * @throws InvalidJsonException if it is not JSON, has a duplicate key, or is nested too deep
   */
  public static Object read(byte[] utf8) {
    JsonReader reader = new JsonReader(decoded(utf8));
    Object value = reader.value();
    reader.skipSpace();
    if (reader.position < reader.text.length()) {
      throw reader.invalid("expected the end of the text");
    }
    return value;
  }

  private static String decoded(byte[] utf8) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    } catch (CharacterCodingException malformed) {
      throw new InvalidJsonException("JSON: the bytes are not UTF-8");
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
    if (!consumed('}')) {
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
          throw invalid("duplicate key");
        }
        members.put(key, value);
        skipSpace();
      } while (consumed(','));
      expect('}');
    }
    depth--;
    return members;
  }

  private List<Object> array() {
    List<Object> items = new ArrayList<>();
    enter();
    skipSpace();
    if (!consumed(']')) {
      do {
        items.add(value());
        skipSpace();
      } while (consumed(','));
      expect(']');
    }
    depth--;
    return items;
  }

  private void enter() {
    position++;
    if (++depth > MAX_DEPTH) {
      throw invalid("more than " + MAX_DEPTH + " levels of nesting");
    }
  }

  private String string() {
    StringBuilder read = new StringBuilder();
    expect('"');
    while (!consumed('"')) {
      char next = peek();
      if (next < ' ') {
        throw invalid("control character in a string");
      }
      position++;
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
    position++;
    switch (kind) {
      case '"', '\\', '/' -> read.append(kind);
      case 'b' -> read.append('\b');
      case 'f' -> read.append('\f');
      case 'n' -> read.append('\n');
      case 'r' -> read.append('\r');
      case 't' -> read.append('\t');
      case 'u' -> unicode(read);
      default -> throw invalid("unknown escape");
    }
  }

  /** A lone surrogate is not a character, so it becomes the replacement character. */
  private void unicode(StringBuilder read) {
    char unit = codeUnit();
    if (Character.isHighSurrogate(unit) && text.startsWith("\\u", position)) {
      int before = position;
      position += 2;
      char low = codeUnit();
      if (Character.isLowSurrogate(low)) {
        read.append(unit).append(low);
        return;
      }
      position = before;
    }
    read.append(Character.isSurrogate(unit) ? REPLACEMENT : unit);
  }

  private char codeUnit() {
    int unit = 0;
    for (int end = position + 4; position < end; position++) {
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
    if (!text.startsWith(word, position)) {
      throw invalid("expected a value");
    }
    position += word.length();
    return value;
  }

  private NumberLiteral number() {
    Matcher found = NUMBER.matcher(text).region(position, text.length());
    if (!found.lookingAt()) {
      throw invalid("expected a value");
    }
    position = found.end();
    return new NumberLiteral(found.group());
  }

  private void skipSpace() {
    while (position < text.length() && " \t\n\r".indexOf(text.charAt(position)) >= 0) {
      position++;
    }
  }

  private char peek() {
    if (position >= text.length()) {
      throw invalid("unexpected end");
    }
    return text.charAt(position);
  }

  private boolean consumed(char wanted) {
    if (isNext(wanted)) {
      position++;
      return true;
    }
    return false;
  }

  private boolean isNext(char wanted) {
    return position < text.length() && text.charAt(position) == wanted;
  }

  private void expect(char wanted) {
    if (!consumed(wanted)) {
      throw invalid("expected " + wanted);
    }
  }

  private InvalidJsonException invalid(String what) {
    return new InvalidJsonException("JSON: " + what + " at character " + position);
  }
}
