package dev.warpwright.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Image;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * How events become bytes and back: for implementers of {@link RunStore}.
 *
 * <p>An event is stored as three things: the name of its type, the schema version of that type, and
 * its components as one UTF-8 JSON object. Equal events give equal bytes: members stand in the
 * order of the record's components and the keys of maps are sorted. Absent optionals and absent
 * token counts are left out, enums are written by name, durations as ISO-8601 text, and a {@link
 * Json} is embedded as it is, with every digit and the order of its members. Unpaired surrogates
 * become U+FFFD. Members that are not known, which a newer Warpwright wrote, do not reach the
 * event; a {@link LoggedEvent} keeps them, and {@link #encode(LoggedEvent)} writes them again.
 *
 * <p>The set of types is closed: only {@link RunEvent}s are ever made. Stateless and thread-safe.
 */
public final class RunEventCodec {
  /** The types of events by name, each with its current schema version. */
  private static final Map<String, Type> TYPES =
      List.of(
              new Type(RunEvent.RunStarted.class, 1),
              new Type(RunEvent.MemoryLoaded.class, 1),
              new Type(RunEvent.StepStarted.class, 1),
              new Type(RunEvent.ContextCompacted.class, 1),
              new Type(RunEvent.RouteBound.class, 1),
              new Type(RunEvent.ModelResponded.class, 1),
              new Type(RunEvent.GuardrailChecked.class, 1),
              new Type(RunEvent.ApprovalRequested.class, 1),
              new Type(RunEvent.ApprovalTokenIssued.class, 1),
              new Type(RunEvent.ApprovalDecided.class, 1),
              new Type(RunEvent.ToolStarted.class, 1),
              new Type(RunEvent.ToolFinished.class, 1),
              new Type(RunEvent.ToolReconciled.class, 1),
              new Type(RunEvent.ChildStarted.class, 1),
              new Type(RunEvent.ChildFinished.class, 1),
              new Type(RunEvent.RunSuspended.class, 1),
              new Type(RunEvent.RunResumed.class, 1),
              new Type(RunEvent.CancelRequested.class, 1),
              new Type(RunEvent.RunCancelled.class, 1),
              new Type(RunEvent.RunTimedOut.class, 1),
              new Type(RunEvent.RunCompleted.class, 1),
              new Type(RunEvent.RunFailed.class, 1),
              new Type(FlowEvent.FlowStepStarted.class, 1),
              new Type(FlowEvent.FlowStepFinished.class, 1),
              new Type(FlowEvent.StepRetryScheduled.class, 1),
              new Type(FlowEvent.TimerScheduled.class, 1),
              new Type(FlowEvent.TimerFired.class, 1),
              new Type(FlowEvent.SignalAwaited.class, 1),
              new Type(FlowEvent.SignalReceived.class, 1),
              new Type(FlowEvent.SignalTimedOut.class, 1),
              new Type(FlowEvent.ParallelStarted.class, 1),
              new Type(FlowEvent.ParallelFinished.class, 1),
              new Type(FlowEvent.VersionMarked.class, 1),
              new Type(FlowEvent.Observed.class, 1))
          .stream()
          .collect(Collectors.toUnmodifiableMap(Type::name, Function.identity()));

  /** An embedded value may be as deep as {@link Json} allows; the event adds its own levels. */
  private static final int MAX_DEPTH = StrictJson.MAX_DEPTH + 20;

  /** Under which a read finds the {@link AtomicBoolean} that tells of unknown members. */
  private static final Object UNKNOWN_MEMBERS = new Object();

  private static final JsonMapper MAPPER = mapper();

  private RunEventCodec() {}

  private record Type(Class<? extends RunEvent> recordClass, int version) {
    String name() {
      return recordClass.getSimpleName();
    }
  }

  /**
   * The name of an event's type.
   *
   * @param event the event
   * @return the name, such as {@code RunStarted}
   */
  public static String type(RunEvent event) {
    return event.getClass().getSimpleName();
  }

  /**
   * The schema version in which {@link #encode} writes an event.
   *
   * @param event the event
   * @return the version, 1 or more
   */
  public static int version(RunEvent event) {
    Type type = TYPES.get(type(event));
    if (type == null) {
      throw new IllegalStateException(type(event) + " is missing in the table of event types.");
    }
    return type.version();
  }

  /**
   * Writes an event's components.
   *
   * @param event the event
   * @return one JSON object, UTF-8; equal events give equal bytes
   */
  public static byte[] encode(RunEvent event) {
    return MAPPER.writeValueAsBytes(event);
  }

  /**
   * The schema version in which {@link #encode(LoggedEvent)} writes an event.
   *
   * @param logged the event
   * @return the version, 1 or more
   */
  public static int version(LoggedEvent logged) {
    return logged.raw().map(LoggedEvent.Raw::version).orElseGet(() -> version(logged.event()));
  }

  /**
   * Writes the components of an event of a log, those included that only a newer Warpwright knows.
   *
   * @param logged the event
   * @return one JSON object, UTF-8
   */
  public static byte[] encode(LoggedEvent logged) {
    return logged
        .raw()
        .map(raw -> raw.body().getBytes(StandardCharsets.UTF_8))
        .orElseGet(() -> encode(logged.event()));
  }

  /**
   * Whether two logs are the same as a store keeps them: every event with its writer, its time and
   * its bytes.
   *
   * @param one a log
   * @param other another
   * @return true if storing either gives the same
   */
  public static boolean isSame(List<LoggedEvent> one, List<LoggedEvent> other) {
    boolean same = one.size() == other.size();
    for (int i = 0; same && i < one.size(); i++) {
      same = isSame(one.get(i), other.get(i));
    }
    return same;
  }

  static boolean isSame(LoggedEvent one, LoggedEvent other) {
    return one.run().equals(other.run())
        && one.sequence() == other.sequence()
        && one.writer().equals(other.writer())
        && one.time().equals(other.time())
        && type(one.event()).equals(type(other.event()))
        && version(one) == version(other)
        && Arrays.equals(encode(one), encode(other));
  }

  /**
   * Reads an event of a log.
   *
   * @param run the run
   * @param sequence the event's place in the log
   * @param writer who wrote it
   * @param time when
   * @param type the name of its type
   * @param version the schema version in which it was written
   * @param body what {@link #encode(LoggedEvent)} wrote
   * @return the event, with the body if that has members that are not known
   * @throws InvalidRequestException as {@link #decode(String, int, byte[])}
   */
  public static LoggedEvent decode(
      RunKey run,
      long sequence,
      Writer writer,
      Instant time,
      String type,
      int version,
      byte[] body) {
    AtomicBoolean unknown = new AtomicBoolean();
    RunEvent event = decode(type, version, body, unknown);
    Optional<LoggedEvent.Raw> raw =
        unknown.get()
            ? Optional.of(new LoggedEvent.Raw(version, new String(body, StandardCharsets.UTF_8)))
            : Optional.empty();
    return new LoggedEvent(run, sequence, writer, time, event, raw);
  }

  /**
   * Reads an event; what is not known in it is left out.
   *
   * @param type the name of its type
   * @param version the schema version in which it was written
   * @param body what {@link #encode} wrote
   * @return the event
   * @throws InvalidRequestException if the type is not known, if the version is newer than the
   *     known one, or if the body is not an event of that type; the message names types, versions
   *     and members, never content
   */
  public static RunEvent decode(String type, int version, byte[] body) {
    return decode(type, version, body, new AtomicBoolean());
  }

  private static RunEvent decode(
      String type, int version, byte[] body, AtomicBoolean unknownMembers) {
    Type known = TYPES.get(type);
    if (known == null) {
      throw refused(
          "The log has an event of the type "
              + type
              + ", schema version "
              + version
              + ", which this version of Warpwright does not know; it knows "
              + knownTypes()
              + ".");
    }
    if (version < 1 || version > known.version()) {
      throw refused(
          "The log has an event of the type "
              + type
              + " in schema version "
              + version
              + "; this version of Warpwright reads the versions 1 to "
              + known.version()
              + " of it.");
    }
    try {
      RunEvent event =
          MAPPER
              .readerFor(known.recordClass())
              .withAttribute(UNKNOWN_MEMBERS, unknownMembers)
              .readValue(body);
      if (event != null) {
        return event;
      }
      throw unreadable(known, version, "the body", "null"); // the body is the JSON value null
    } catch (JacksonException e) {
      String path =
          e.getPath().stream()
              .map(step -> step.getPropertyName() == null ? "[]" : step.getPropertyName())
              .collect(Collectors.joining("."));
      throw unreadable(
          known,
          version,
          path.isEmpty() ? "the body" : "its member " + path,
          e.getClass().getSimpleName());
    }
  }

  private static InvalidRequestException unreadable(
      Type type, int version, String place, String reason) {
    return refused(
        "An event of the type %s, schema version %d, cannot be read: %s is missing or not what it"
                .formatted(type.name(), version, place)
            + " must be ("
            + reason
            + ").");
  }

  private static String knownTypes() {
    return TYPES.values().stream()
        .sorted(Comparator.comparing(Type::name))
        .map(type -> type.name() + " up to " + type.version())
        .collect(Collectors.joining(", "));
  }

  private static InvalidRequestException refused(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }

  private static JsonMapper mapper() {
    JsonFactory factory =
        JsonFactory.builder()
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(1_000)
                    .maxNameLength(StrictJson.MAX_CHARACTERS)
                    .maxStringLength(StrictJson.MAX_CHARACTERS)
                    .build())
            .build();
    SimpleModule types = new SimpleModule("warpwright-events");
    types.addSerializer(String.class, new CleanText());
    types.addKeySerializer(String.class, new CleanKey());
    types.addSerializer(Json.class, new EmbeddedJson());
    types.addDeserializer(Json.class, new JsonReader());
    types.addSerializer(TokenCount.class, new PresentCount());
    types.addDeserializer(TokenCount.class, new CountReader());
    return JsonMapper.builder(factory)
        .addModule(types)
        .addHandler(new UnknownMembers())
        .annotationIntrospector(new AllRequired())
        .addMixIn(Part.class, PartTypes.class)
        .addMixIn(Attempt.class, AttemptMembers.class)
        .addMixIn(RunEvent.RunStarted.class, StartedMembers.class)
        .changeDefaultPropertyInclusion(
            inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_ABSENT))
        .withConfigOverride(
            TokenCount.class,
            override ->
                override.setIncludeAsProperty(
                    JsonInclude.Value.construct(
                        JsonInclude.Include.NON_EMPTY, JsonInclude.Include.ALWAYS)))
        .disable(
            MapperFeature.SORT_PROPERTIES_ALPHABETICALLY,
            MapperFeature.ALLOW_COERCION_OF_SCALARS,
            MapperFeature.INFER_PROPERTY_MUTATORS)
        .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
        .disable(DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
        .enable(
            DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS,
            DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
            DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
            DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
        .disable(
            DeserializationFeature.ACCEPT_FLOAT_AS_INT,
            DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .build();
  }

  /** Passes over members that are not known, and tells the reader that there are some. */
  private static final class UnknownMembers extends DeserializationProblemHandler {
    @Override
    public boolean handleUnknownProperty(
        DeserializationContext context,
        JsonParser in,
        ValueDeserializer<?> deserializer,
        Object beanOrClass,
        String name) {
      in.skipChildren();
      tell(context);
      return true;
    }

    static void tell(DeserializationContext context) {
      ((AtomicBoolean) context.getAttribute(UNKNOWN_MEMBERS)).set(true);
    }
  }

  /** A member is required unless its type has a value that stands for "absent". */
  private static final class AllRequired extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    @Override
    public Boolean hasRequiredMarker(MapperConfig<?> config, AnnotatedMember member) {
      Class<?> type = member.getRawType();
      return type != Optional.class && type != TokenCount.class && !isLaterFlag(member);
    }

    /** The one flag of each of these was added later: where it is missing, it is not set. */
    private static boolean isLaterFlag(AnnotatedMember member) {
      Class<?> type = member.getDeclaringClass();
      return member.getRawType() == boolean.class
          && (type == Attempt.class || type == RunEvent.RunStarted.class);
    }
  }

  /** Members of attempts that are written only when they say something. */
  @SuppressWarnings("unused") // only its annotations are read
  private interface AttemptMembers {
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    boolean cacheHit();
  }

  /** Members of the first event that are written only when they say something. */
  @SuppressWarnings("unused") // only its annotations are read
  private interface StartedMembers {
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    boolean imported();
  }

  /** Names the kinds of parts in a member of their own. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Part.Text.class, name = "text"),
    @JsonSubTypes.Type(value = Image.class, name = "image"),
    @JsonSubTypes.Type(value = ToolCall.class, name = "tool_call"),
    @JsonSubTypes.Type(value = ToolResult.class, name = "tool_result"),
    @JsonSubTypes.Type(value = ProviderState.class, name = "provider_state")
  })
  private interface PartTypes {}

  /** Writes text without unpaired surrogates, which have no UTF-8 form. */
  private static final class CleanText extends StdSerializer<String> {
    CleanText() {
      super(String.class);
    }

    @Override
    public void serialize(String text, JsonGenerator out, SerializationContext context) {
      out.writeString(StrictJson.cleanText(text));
    }
  }

  private static final class CleanKey extends StdSerializer<String> {
    CleanKey() {
      super(String.class);
    }

    @Override
    public void serialize(String key, JsonGenerator out, SerializationContext context) {
      out.writeName(StrictJson.cleanText(key));
    }
  }

  private static final class EmbeddedJson extends StdSerializer<Json> {
    EmbeddedJson() {
      super(Json.class);
    }

    @Override
    public void serialize(Json json, JsonGenerator out, SerializationContext context) {
      out.writeRawValue(json.text());
    }
  }

  private static final class JsonReader extends StdDeserializer<Json> {
    private static final Json NULL = Json.parse("null");

    JsonReader() {
      super(Json.class);
    }

    @Override
    public Json deserialize(JsonParser in, DeserializationContext context) {
      JsonNode tree = context.readTree(in);
      return Json.parse(StrictJson.write(tree));
    }

    /**
     * A JSON null is a value; only a missing member is none. Jackson asks here for both, and inside
     * an Optional in no other way, but after the end of the object for a missing one.
     */
    @Override
    public @Nullable Object getNullValue(DeserializationContext context) {
      return context.getParser().currentToken() == JsonToken.VALUE_NULL ? NULL : null;
    }
  }

  /** Writes a count; one that is absent is "empty", so that it is left out as a member. */
  private static final class PresentCount extends StdSerializer<TokenCount> {
    PresentCount() {
      super(TokenCount.class);
    }

    @Override
    public boolean isEmpty(SerializationContext context, TokenCount count) {
      return count.equals(TokenCount.ABSENT);
    }

    @Override
    public void serialize(TokenCount count, JsonGenerator out, SerializationContext context) {
      out.writeStartObject();
      out.writeNumberProperty("tokens", count.tokens());
      out.writeStringProperty("provenance", count.provenance().name());
      out.writeEndObject();
    }
  }

  private static final class CountReader extends StdDeserializer<TokenCount> {
    CountReader() {
      super(TokenCount.class);
    }

    @Override
    public TokenCount deserialize(JsonParser in, DeserializationContext context) {
      JsonNode tree = context.readTree(in);
      JsonNode tokens = tree.path("tokens");
      if (!tokens.isIntegralNumber() || !tokens.canConvertToLong()) {
        context.reportInputMismatch(TokenCount.class, "tokens must be an integer");
      }
      TokenCount.Provenance provenance =
          context.readTreeAsValue(tree.path("provenance"), TokenCount.Provenance.class);
      if (provenance == null) {
        context.reportInputMismatch(TokenCount.class, "provenance is missing");
      }
      if (tree.size() > 2) {
        UnknownMembers.tell(context);
      }
      return new TokenCount(tokens.longValue(), provenance);
    }

    @Override
    public Object getAbsentValue(DeserializationContext context) {
      return TokenCount.ABSENT;
    }
  }
}
