package headwater.signing;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Writes the canonical form of a JSON value: the bytes that a signature covers.
 *
 * <p>UTF-8, keys sorted by their UTF-8 bytes, no white space, numbers as written, strings escaped
 * as `\" \\ \b \f \n \r \t`, other control characters and `<` `>` `&` U+2028 U+2029 as `\\u` and
 * four lower-case digits. Vectors: `conformance/signature.json`.
 */
public final class CanonicalJson {
  /**
   * UTF-8 sorts like code points. UTF-16, in which Java's strings sort, does not for supplementary
   * characters.
   */
  private static final Comparator<String> BY_UTF_8 = CanonicalJson::compareCodePoints;

  private static final String HEX = "0123456789abcdef";

  private CanonicalJson() {}

  /** Writes maps, lists, strings, booleans, whole numbers, {@link NumberLiteral} and null. */
  public static byte[] write(Object value) {
    StringBuilder out = new StringBuilder(1024);
    append(value, out);
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void append(Object value, StringBuilder out) {
    if (value instanceof Map<?, ?> members) {
      appendObject(members, out);
    } else if (value instanceof List<?> items) {
      appendArray(items, out);
    } else if (value instanceof String text) {
      appendString(text, out);
    } else if (value instanceof NumberLiteral number) {
      out.append(number.text());
    } else if (value == null
        || value instanceof Boolean
        || value instanceof Integer
        || value instanceof Long) {
      out.append(value);
    } else {
      throw new IllegalArgumentException("cannot write as JSON: " + value.getClass().getName());
    }
  }

  private static void appendObject(Map<?, ?> members, StringBuilder out) {
    List<String> keys = members.keySet().stream().map(String.class::cast).sorted(BY_UTF_8).toList();
    char separator = '{';
    for (String key : keys) {
      out.append(separator);
      appendString(key, out);
      append(members.get(key), out.append(':'));
      separator = ',';
    }
    out.append(keys.isEmpty() ? "{}" : "}");
  }

  private static void appendArray(List<?> items, StringBuilder out) {
    char separator = '[';
    for (Object item : items) {
      append(item, out.append(separator));
      separator = ',';
    }
    out.append(items.isEmpty() ? "[]" : "]");
  }

  private static void appendString(String text, StringBuilder out) {
    out.append('"');
    for (int index = 0; index < text.length(); index++) {
      char next = text.charAt(index);
      if (!Character.isSurrogate(next)) {
        appendCharacter(next, out);
      } else if (Character.isHighSurrogate(next)
          && index + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(index + 1))) {
        out.append(next).append(text.charAt(++index));
      } else {
        out.append('\uFFFD');
      }
    }
    out.append('"');
  }

  private static void appendCharacter(char next, StringBuilder out) {
    switch (next) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\b' -> out.append("\\b");
      case '\f' -> out.append("\\f");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      case '<', '>', '&', '\u2028', '\u2029' -> appendEscape(next, out);
      default -> {
        if (next < ' ') {
          appendEscape(next, out);
        } else {
          out.append(next);
        }
      }
    }
  }

  private static void appendEscape(char next, StringBuilder out) {
    out.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) {
      out.append(HEX.charAt(next >> shift & 15));
    }
  }

  private static int compareCodePoints(String one, String other) {
    int shorter = Math.min(one.length(), other.length());
    for (int index = 0; index < shorter; index++) {
      char a = one.charAt(index);
      char b = other.charAt(index);
      if (a != b) {
        boolean bothOrNeither = Character.isSurrogate(a) == Character.isSurrogate(b);
        return bothOrNeither ? Character.compare(a, b) : Character.isSurrogate(a) ? 1 : -1;
      }
    }
    return Integer.compare(one.length(), other.length());
  }
}
