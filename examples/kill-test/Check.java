import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks what the kill test left behind, with nothing of Warpwright: plays the script against the
 * tickets by itself, every approval given, and compares what should have been done with what was.
 *
 * <p>Arguments: effects.jsonl, report.json, the output of the command {@code runs}, tickets.jsonl,
 * orders.jsonl, the script.
 */
void main(String[] args) throws IOException {
  List<Object> effects = jsonLines(args[0]);
  Map<String, Object> report = object(Reader.read(Files.readString(Path.of(args[1]))));
  List<String> runs = Files.readAllLines(Path.of(args[2]));
  List<Object> tickets = jsonLines(args[3]);
  Map<String, Map<String, Object>> orders = new HashMap<>();
  for (Object order : jsonLines(args[4])) {
    orders.put(text(order, "orderId"), object(order));
  }
  List<Object> rules = list(object(Reader.read(Files.readString(Path.of(args[5])))).get("rules"));

  Map<String, Integer> expected = new TreeMap<>();
  for (Object ticket : tickets) {
    new Play(object(ticket), orders, rules, expected).run();
  }
  Map<String, Integer> found = new TreeMap<>();
  Set<String> keys = new HashSet<>();
  List<String> problems = new ArrayList<>();
  for (Object effect : effects) {
    found.merge(
        effect(text(effect, "ticket"), text(effect, "tool"), object(effect).get("input")),
        1,
        Integer::sum);
    if (!keys.add(text(effect, "key"))) {
      problems.add("A key stands twice: " + text(effect, "key"));
    }
  }
  Set<String> all = new HashSet<>(expected.keySet());
  all.addAll(found.keySet());
  for (String effect : all) {
    int wanted = expected.getOrDefault(effect, 0);
    int had = found.getOrDefault(effect, 0);
    if (wanted != had) {
      problems.add("Expected " + wanted + " times, found " + had + " times: " + effect);
    }
  }
  checkReport(report, tickets.size(), problems);
  checkRuns(runs, tickets, problems);

  System.out.printf(
      "check: %d tickets, %d effects expected, %d found, %d runs, %d problems%n",
      tickets.size(), expected.size(), effects.size(), runs.size() - 1, problems.size());
  problems.forEach(System.out::println);
  System.exit(problems.isEmpty() ? 0 : 1);
}

/** Every ticket is accounted for, and none is open. */
private static void checkReport(Map<String, Object> report, int tickets, List<String> problems) {
  long sum = 0;
  for (String part :
      List.of("completed", "waitingApproval", "needsReconciliation", "failed", "skipped")) {
    sum += number(report, part);
  }
  if (number(report, "items") != tickets || sum != tickets) {
    problems.add("The report accounts for " + sum + " of " + tickets + " tickets: " + report);
  }
  if (number(report, "completed") + number(report, "skipped") != tickets
      || number(report, "badLines") != 0) {
    problems.add("The report has open tickets or bad lines: " + report);
  }
}

/** Every ticket has one run, and it is completed. */
private static void checkRuns(List<String> runs, List<Object> tickets, List<String> problems) {
  Map<String, String> runOfTicket = new HashMap<>();
  for (String line : runs.subList(1, runs.size())) {
    String[] columns = line.split("\\s{2,}");
    String other = runOfTicket.put(columns[1], columns[2]);
    if (other != null) {
      problems.add(columns[1] + " has the runs " + other + " and " + columns[2]);
    }
    if (!columns[0].equals("COMPLETED")) {
      problems.add("Run " + columns[2] + " of " + columns[1] + " is " + columns[0]);
    }
  }
  for (Object ticket : tickets) {
    if (!runOfTicket.containsKey(text(ticket, "id"))) {
      problems.add(text(ticket, "id") + " has no run");
    }
  }
}

/** One ticket, played against the script. */
private static final class Play {
  private final Map<String, Object> ticket;
  private final Map<String, Map<String, Object>> orders;
  private final List<Object> rules;
  private final Map<String, Integer> effects;
  private final List<Result> results = new ArrayList<>();
  private final Map<String, String> variables = new HashMap<>();

  private record Result(String tool, String output, boolean error) {}

  Play(
      Map<String, Object> ticket,
      Map<String, Map<String, Object>> orders,
      List<Object> rules,
      Map<String, Integer> effects) {
    this.ticket = ticket;
    this.orders = orders;
    this.rules = rules;
    this.effects = effects;
  }

  void run() {
    String prompt =
        "Subject: "
            + oneLine(text(ticket, "subject"))
            + "\nCustomer: "
            + oneLine(text(ticket, "customer"))
            + "\nOrder: "
            + ticket.getOrDefault("orderId", "none")
            + "\nBody:\n"
            + text(ticket, "body");
    for (int turn = 0; ; turn++) {
      Map<String, Object> answer = answer(prompt, turn);
      if (!answer.containsKey("tools")) {
        return;
      }
      for (Object tool : list(answer.get("tools"))) {
        call(text(tool, "name"), object(filled(object(tool).get("input"))));
      }
    }
  }

  private Map<String, Object> answer(String prompt, int turn) {
    for (Object rule : rules) {
      variables.clear();
      if (holds(object(object(rule).get("when")), prompt, turn)) {
        return object(object(rule).get("answer"));
      }
    }
    throw new IllegalStateException("No rule for turn " + turn + " of " + text(ticket, "id"));
  }

  private boolean holds(Map<String, Object> when, String prompt, int turn) {
    for (Map.Entry<String, Object> condition : when.entrySet()) {
      boolean met =
          switch (condition.getKey()) {
            case "turn" -> number(when, "turn") == turn;
            case "user" -> matches(condition.getValue(), prompt);
            case "result" -> fits(object(condition.getValue()));
            default -> throw new IllegalStateException("Unknown condition " + condition.getKey());
          };
      if (!met) {
        return false;
      }
    }
    return true;
  }

  private boolean fits(Map<String, Object> wanted) {
    return results.reversed().stream()
        .filter(result -> result.tool.equals(wanted.get("tool")))
        .findFirst()
        .filter(result -> Objects.equals(wanted.get("error"), result.error))
        .filter(
            result -> !wanted.containsKey("output") || matches(wanted.get("output"), result.output))
        .isPresent();
  }

  private boolean matches(Object regex, String text) {
    Pattern pattern = Pattern.compile((String) regex);
    Matcher matcher = pattern.matcher(text);
    if (!matcher.find()) {
      return false;
    }
    pattern.namedGroups().keySet().forEach(name -> variables.put(name, matcher.group(name)));
    return true;
  }

  private Object filled(Object template) {
    if (template instanceof Map<?, ?>) {
      Map<String, Object> members = new LinkedHashMap<>();
      object(template).forEach((name, value) -> members.put(name, filled(value)));
      return members;
    }
    String text = (String) template;
    if (text.matches("\\$\\{\\w+:json}")) {
      return Reader.read(variables.get(text.substring(2, text.length() - 6)));
    }
    return Pattern.compile("\\$\\{(\\w+)}")
        .matcher(text)
        .replaceAll(found -> Matcher.quoteReplacement(variables.get(found.group(1))));
  }

  private void call(String tool, Map<String, Object> input) {
    switch (tool) {
      case "lookup_order" -> lookUp(text(input, "orderId"));
      case "refund" -> {
        done(tool, input);
        Map<String, Object> refunded = new LinkedHashMap<>(input);
        refunded.put("currency", orders.get(text(input, "orderId")).get("currency"));
        results.add(new Result(tool, Writer.write(refunded), false));
      }
      case "add_note", "reply" -> {
        done(tool, input);
        results.add(new Result(tool, "", false));
      }
      default -> throw new IllegalStateException("Unknown tool " + tool);
    }
  }

  private void lookUp(String orderId) {
    Map<String, Object> order = orders.get(orderId);
    if (order == null || !text(order, "customer").equals(oneLine(text(ticket, "customer")))) {
      results.add(new Result("lookup_order", "", true));
      return;
    }
    Map<String, Object> view = new LinkedHashMap<>();
    view.put("orderId", orderId);
    view.put("item", order.get("item"));
    view.put("amount", new Num(text(order, "amount")));
    view.put("currency", order.get("currency"));
    view.put("status", order.get("status"));
    results.add(new Result("lookup_order", Writer.write(view), false));
  }

  private void done(String tool, Map<String, Object> input) {
    effects.merge(effect(text(ticket, "id"), tool, input), 1, Integer::sum);
  }
}

private static String effect(String ticket, String tool, Object input) {
  return ticket + " " + tool + " " + Writer.write(new TreeMap<>(object(input)));
}

private static String oneLine(String text) {
  return text.replaceAll("[\\s\\p{Cntrl}\\u0085\\u2028\\u2029]+", " ").strip();
}

private static List<Object> jsonLines(String file) throws IOException {
  List<Object> values = new ArrayList<>();
  for (String line : Files.readString(Path.of(file)).split("\n")) {
    if (!line.isBlank()) {
      values.add(Reader.read(line));
    }
  }
  return values;
}

@SuppressWarnings("unchecked")
private static Map<String, Object> object(Object value) {
  return (Map<String, Object>) value;
}

@SuppressWarnings("unchecked")
private static List<Object> list(Object value) {
  return (List<Object>) value;
}

private static String text(Object object, String member) {
  return (String) Objects.requireNonNull(object(object).get(member), member);
}

private static long number(Map<String, Object> object, String member) {
  return Long.parseLong(((Num) Objects.requireNonNull(object.get(member), member)).digits);
}

/** A number with its digits as they were written. */
private record Num(String digits) {}

/** Reads JSON into maps, lists, strings, numbers, booleans and null. */
private static final class Reader {
  private final String text;
  private int at;

  private Reader(String text) {
    this.text = text;
  }

  static Object read(String text) {
    Reader reader = new Reader(text);
    Object value = reader.value();
    reader.skipSpace();
    if (reader.at != text.length()) {
      throw reader.wrong();
    }
    return value;
  }

  private Object value() {
    skipSpace();
    return switch (text.charAt(at)) {
      case '{' -> members();
      case '[' -> elements();
      case '"' -> string();
      case 't' -> word("true", Boolean.TRUE);
      case 'f' -> word("false", Boolean.FALSE);
      case 'n' -> word("null", null);
      default -> digits();
    };
  }

  private Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    at++;
    while (!ends('}')) {
      skipSpace();
      String name = string();
      skipSpace();
      expect(':');
      members.put(name, value());
    }
    return members;
  }

  private List<Object> elements() {
    List<Object> elements = new ArrayList<>();
    at++;
    while (!ends(']')) {
      elements.add(value());
    }
    return elements;
  }

  /** Passes the end of a list, or the comma before the next of its elements. */
  private boolean ends(char end) {
    skipSpace();
    if (text.charAt(at) == end) {
      at++;
      return true;
    }
    if (text.charAt(at) == ',') {
      at++;
    }
    return false;
  }

  private String string() {
    expect('"');
    StringBuilder read = new StringBuilder();
    for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
      read.append(c == '\\' ? escaped(text.charAt(at++)) : c);
    }
    return read.toString();
  }

  private char escaped(char c) {
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'u' -> {
        at += 4;
        yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
      }
      default -> c;
    };
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong();
    }
    at += word.length();
    return value;
  }

  private Num digits() {
    int begin = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    if (begin == at) {
      throw wrong();
    }
    return new Num(text.substring(begin, at));
  }

  private void expect(char c) {
    if (text.charAt(at++) != c) {
      throw wrong();
    }
  }

  private void skipSpace() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private IllegalStateException wrong() {
    return new IllegalStateException("No JSON at " + at + " of: " + text);
  }
}

/** Writes compact JSON. */
private static final class Writer {
  static String write(Object value) {
    return switch (value) {
      case Map<?, ?> members -> {
        List<String> written = new ArrayList<>();
        members.forEach((name, member) -> written.add(quoted((String) name) + ":" + write(member)));
        yield "{" + String.join(",", written) + "}";
      }
      case Num number -> number.digits;
      case String text -> quoted(text);
      default -> throw new IllegalStateException("Not written here: " + value);
    };
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
