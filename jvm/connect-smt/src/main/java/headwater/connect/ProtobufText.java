package headwater.connect;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the fields of a `.proto` text's first message, which is what a registry's schema describes.
 *
 * <p>Source: Protocol Buffers, language specification, proto3. Options, services and extensions are
 * passed over.
 */
final class ProtobufText {
  private static final int MAX_DEPTH = 12;
  private static final Pattern COMMENT = Pattern.compile("//[^\n]*|/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern TOKEN =
      Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|[\\w.]+|[{}<>=;,\\[\\]()]");
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

  private final List<String> tokens = new ArrayList<>();
  private final Map<String, List<Member>> messages = new LinkedHashMap<>();
  private final Map<String, Boolean> enums = new HashMap<>();

  private ProtobufText(String text) {
    Matcher found = TOKEN.matcher(COMMENT.matcher(text).replaceAll(" "));
    while (found.find()) {
      tokens.add(found.group());
    }
  }

  static RegisteredSchemas.Read read(String text) {
    ProtobufText proto = new ProtobufText(text);
    proto.parse();
    if (proto.messages.isEmpty()) {
      throw new IllegalArgumentException("a Protobuf schema without a message");
    }
    String first = proto.messages.keySet().iterator().next();
    return new RegisteredSchemas.Read(first, proto.fields(first, 0));
  }

  /**
   * Statements end with `;` or open a block; a block belongs to a message, to a oneof within it, or
   * is passed over.
   */
  private void parse() {
    Deque<String> blocks = new ArrayDeque<>();
    List<String> statement = new ArrayList<>();
    for (String token : tokens) {
      switch (token) {
        case "{" -> {
          blocks.push(opened(statement, blocks));
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

  private String opened(List<String> statement, Deque<String> blocks) {
    String kind = statement.isEmpty() ? "" : statement.get(0);
    if (kind.equals("message") && statement.size() > 1) {
      messages.put(statement.get(1), new ArrayList<>());
      return statement.get(1);
    }
    if (kind.equals("enum") && statement.size() > 1) {
      enums.put(statement.get(1), true);
    }
    return kind.equals("oneof") && !blocks.isEmpty() ? blocks.peek() : "";
  }

  private void addMember(List<String> statement, Deque<String> blocks) {
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
    for (Member member : messages.get(message)) {
      String type = typeName(member.type());
      String shown =
          member.mapKey() != null
              ? "map<" + typeName(member.mapKey()) + "," + type + ">"
              : member.isRepeated() ? "array<" + type + ">" : type;
      String nested = lastPart(member.type());
      boolean isStruct = type.equals("struct") && messages.containsKey(nested) && depth < MAX_DEPTH;
      fields.add(
          new FieldShape(
              member.name(), shown, null, isStruct ? fields(nested, depth + 1) : List.of()));
    }
    return fields;
  }

  private String typeName(String type) {
    String known = PRIMITIVE.get(type.startsWith(".") ? type.substring(1) : type);
    return known != null ? known : enums.containsKey(lastPart(type)) ? "string" : "struct";
  }

  private static String lastPart(String type) {
    return type.substring(type.lastIndexOf('.') + 1);
  }
}
