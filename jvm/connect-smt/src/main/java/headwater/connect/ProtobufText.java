package headwater.connect;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the fields of the first message in a `.proto` text, which a registry's schema describes.
 *
 * <p>Source: Protocol Buffers, language specification, proto3. Options, services and extensions are
 * ignored.
 */
final class ProtobufText {
  private static final int MAX_DEPTH = 12;

  /** One pattern for comments and strings: neither begins qualified the other. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "//[^\n]*|/\\*.*?\\*/"
              + "|\"(?:[^\"\\\\]++|\\\\.)*+\"|'(?:[^'\\\\]++|\\\\.)*+'"
              + "|[\\w.]+|[{}<>=;,\\[\\]()]",
          Pattern.DOTALL);

  private static final Map<String, String> PRIMITIVE =
      Map.ofEntries(
          Map.entry("int32", "int32"),
          Map.entry("sint32", "int32"),
          Map.entry("sfixed32", "int32"),
          Map.entry("uint32", "int64"),
          Map.entry("fixed32", "int64"),
          Map.entry("int64", "int64"),
          Map.entry("sint64", "int64"),
          Map.entry("sfixed64", "int64"),
          Map.entry("uint64", "int64"),
          Map.entry("fixed64", "int64"),
          Map.entry("float", "float32"),
          Map.entry("double", "float64"),
          Map.entry("bool", "boolean"),
          Map.entry("string", "string"),
          Map.entry("bytes", "bytes"),
          Map.entry("google.protobuf.Timestamp", "timestamp"),
          Map.entry("google.type.Date", "date"));

  private record Member(String name, String type, boolean isRepeated, String mapKey) {}

  private static final String SKIPPED = "";

  private final List<String> tokens = new ArrayList<>();

  /** Members by message name, qualified by the enclosing messages: `Order.Line`. */
  private final Map<String, List<Member>> messages = new LinkedHashMap<>();

  private final Set<String> enums = new HashSet<>();
  private final FieldBudget budget = new FieldBudget();
  private String filePackage = "";

  private ProtobufText(String text) {
    Matcher found = TOKEN.matcher(text);
    int brackets = 0; // field options are in brackets, and are skipped
    while (found.find()) {
      String token = found.group();
      brackets += token.equals("[") ? 1 : 0;
      if (brackets == 0 && !token.startsWith("//") && !token.startsWith("/*")) {
        tokens.add(token);
      }
      brackets -= token.equals("]") ? 1 : 0;
    }
  }

  static RegisteredSchemas.ParsedSchema read(String text) {
    ProtobufText proto = new ProtobufText(text);
    proto.parse();
    if (proto.messages.isEmpty()) {
      throw new IllegalArgumentException("Protobuf schema: it has no message");
    }
    String first = proto.messages.keySet().iterator().next();
    return new RegisteredSchemas.ParsedSchema(first, proto.fields(first, 0));
  }

  /**
   * Statements end with `;` or open a block; a block is a message, a oneof qualified one, or is
   * skipped.
   */
  private void parse() {
    Deque<String> blocks = new ArrayDeque<>();
    List<String> statement = new ArrayList<>();
    for (String token : tokens) {
      switch (token) {
        case "{" -> {
          blocks.push(blockOf(statement, blocks));
          statement.clear();
        }
        case "}" -> {
          blocks.pop();
          statement.clear();
        }
        case ";" -> {
          addMember(statement, blocks);
          statement.clear();
        }
        default -> statement.add(token);
      }
    }
  }

  private String blockOf(List<String> statement, Deque<String> blocks) {
    String kind = statement.isEmpty() ? "" : statement.get(0);
    String enclosing = blocks.isEmpty() ? SKIPPED : blocks.peek();
    if (kind.equals("message") && statement.size() > 1) {
      String name = qualified(enclosing, statement.get(1));
      messages.put(name, new ArrayList<>());
      return name;
    }
    if (kind.equals("enum") && statement.size() > 1) {
      enums.add(qualified(enclosing, statement.get(1)));
    }
    return kind.equals("oneof") ? enclosing : SKIPPED;
  }

  private void addMember(List<String> statement, Deque<String> blocks) {
    if (blocks.isEmpty() && statement.size() == 2 && statement.get(0).equals("package")) {
      filePackage = statement.get(1);
    }
    int equals = statement.indexOf("=");
    List<Member> members = blocks.isEmpty() ? null : messages.get(blocks.peek());
    if (members == null || equals < 2 || statement.get(0).matches("option|reserved|extensions")) {
      return;
    }
    String name = statement.get(equals - 1);
    if (statement.get(0).equals("map")) {
      members.add(new Member(name, statement.get(4), false, statement.get(2)));
    } else {
      members.add(
          new Member(name, statement.get(equals - 2), statement.get(0).equals("repeated"), null));
    }
  }

  private List<FieldShape> fields(String message, int depth) {
    List<FieldShape> fields = new ArrayList<>();
    for (Member member : budget.take(messages.get(message))) {
      String named = resolved(message, member.type());
      String type = typeName(named);
      String shownType =
          member.mapKey() != null
              ? "map<" + typeName(member.mapKey()) + "," + type + ">"
              : member.isRepeated() ? "array<" + type + ">" : type;
      boolean isStruct = messages.containsKey(named) && depth < MAX_DEPTH;
      fields.add(
          new FieldShape(
              member.name(), shownType, null, isStruct ? fields(named, depth + 1) : List.of()));
    }
    return fields;
  }

  private String typeName(String type) {
    return PRIMITIVE.getOrDefault(type, enums.contains(type) ? "string" : "struct");
  }

  /**
   * The key of a type in {@link #messages} or {@link #enums}; a type of another file unchanged.
   *
   * <p>Source: Protocol Buffers, language guide, "Packages and Name Resolution": the innermost
   * scope is searched first, then the next
   */
  private String resolved(String message, String type) {
    if (type.startsWith(".")) {
      return withoutPackage(type.substring(1));
    }
    for (String scope = message; ; scope = parentScope(scope)) {
      String name = qualified(scope, type);
      if (messages.containsKey(name) || enums.contains(name)) {
        return name;
      }
      if (scope.isEmpty()) {
        return withoutPackage(type);
      }
    }
  }

  private String withoutPackage(String type) {
    String own = type.startsWith(filePackage + ".") ? type.substring(filePackage.length() + 1) : "";
    return messages.containsKey(own) || enums.contains(own) ? own : type;
  }

  private static String qualified(String scope, String name) {
    return scope.isEmpty() ? name : scope + "." + name;
  }

  private static String parentScope(String scope) {
    return scope.substring(0, Math.max(0, scope.lastIndexOf('.')));
  }
}
