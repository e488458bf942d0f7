package dev.warpwright;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles.Lookup;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A text operation with an output type: what is asked, and the object that the final text must be.
 * Immutable.
 *
 * {@snippet :
 * record Invoice(String number, BigDecimal total, Optional<LocalDate> due) {}
 *
 * ObjectRequest<Invoice> request =
 *     ObjectRequest.of(
 *         Invoice.class,
 *         MethodHandles.lookup(),
 *         GenerateRequest.builder("The invoice in this letter: " + letter).build());
 * Invoice invoice = gateway.generateObject(request).object();
 * }
 *
 * <p>Making one prepares the schema. To ask for the same object many times, keep one and change
 * what is asked with {@link #withRequest}.
 *
 * @param <T> the type of the object
 */
public final class ObjectRequest<T> {
  private final GenerateRequest request;
  private final ObjectMode mode;
  private final String name;
  private final Optional<String> description;
  private final ObjectForm form;
  private final ObjectReader<T> reader;

  private ObjectRequest(
      GenerateRequest request,
      ObjectMode mode,
      String name,
      Optional<String> description,
      ObjectForm form,
      ObjectReader<T> reader) {
    this.request = Objects.requireNonNull(request, "request");
    this.mode = mode;
    this.name = name;
    this.description = description;
    this.form = form;
    this.reader = reader;
  }

  /**
   * Asks for a record, or one of a sealed interface of records, with the defaults.
   *
   * @param <T> the type of the object
   * @param type its class; see {@link JsonType} for what it may hold
   * @param lookup what the program can reach, usually {@code MethodHandles.lookup()} in the package
   *     of the records
   * @param request what is asked, with all options of a text operation
   * @return the request
   * @throws InvalidRequestException if the type holds something that is not supported or cannot be
   *     reached
   */
  public static <T> ObjectRequest<T> of(Class<T> type, Lookup lookup, GenerateRequest request) {
    return builder(JsonType.of(type, lookup), request).build();
  }

  /**
   * Begins a request for an object of a type.
   *
   * @param <T> the type of the object
   * @param type the type; {@link JsonType#ofSchema} for raw JSON of a schema given by hand
   * @param request what is asked, with all options of a text operation
   * @return a builder
   */
  public static <T> Builder<T> builder(JsonType<T> type, GenerateRequest request) {
    return new Builder<>(type, Function.identity(), request);
  }

  /**
   * Begins a request for an object that the program makes from JSON itself.
   *
   * @param <T> the type of the object
   * @param schema the schema, an object; see {@link JsonType#ofSchema}
   * @param mapper makes the object from JSON that matches the schema; where the provider held the
   *     answer to it, an absent member may be null. It runs on another thread than the caller's and
   *     may block until the deadline. An exception of it, or null, counts as an answer that breaks
   *     the schema
   * @param request what is asked, with all options of a text operation
   * @return a builder
   * @throws InvalidRequestException if it is no valid schema; the message names the places
   */
  public static <T> Builder<T> builder(
      Json schema, Function<? super Json, ? extends T> mapper, GenerateRequest request) {
    return new Builder<>(JsonType.ofSchema(schema), mapper, request);
  }

  /**
   * The same object, asked for otherwise.
   *
   * @param other what is asked
   * @return a copy that shares the prepared schema
   */
  public ObjectRequest<T> withRequest(GenerateRequest other) {
    return new ObjectRequest<>(other, mode, name, description, form, reader);
  }

  /**
   * What is asked.
   *
   * @return the text operation that gives the object
   */
  public GenerateRequest request() {
    return request;
  }

  /**
   * How a model is brought to answer with the object.
   *
   * @return the mode, AUTO by default
   */
  public ObjectMode mode() {
    return mode;
  }

  /**
   * What the object is, for the model.
   *
   * @return the name, {@code response} by default
   */
  public String name() {
    return name;
  }

  /**
   * What a model is told of the object besides its schema.
   *
   * @return the description, if set
   */
  public Optional<String> description() {
    return description;
  }

  ObjectForm form() {
    return form;
  }

  ObjectReader<T> reader() {
    return reader;
  }

  /** Shows the name and the sizes only. */
  @Override
  public String toString() {
    return "ObjectRequest[" + name + ", " + mode + ", " + request + "]";
  }

  /**
   * Collects the options of a request for an object; not thread-safe.
   *
   * @param <T> the type of the object
   */
  public static final class Builder<T> {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private final Json schema;
    private final Function<Boolean, ObjectReader<T>> reader;
    private final GenerateRequest request;
    private ObjectMode mode = ObjectMode.AUTO;
    private String name = "response";
    private @Nullable String description;

    private <J> Builder(
        JsonType<J> type, Function<? super J, ? extends T> mapper, GenerateRequest request) {
      this.schema = type.schema();
      this.reader = mayBeNative -> new ObjectReader<>(type, mapper, mayBeNative);
      this.request = Objects.requireNonNull(request, "request");
    }

    /**
     * Says how a model is brought to answer with the object.
     *
     * @param mode {@link ObjectMode#AUTO} by default
     * @return this builder
     */
    public Builder<T> mode(ObjectMode mode) {
      this.mode = Objects.requireNonNull(mode, "mode");
      return this;
    }

    /**
     * Says what the object is, for the model.
     *
     * @param name matches {@code [A-Za-z0-9_-]{1,64}}; {@code response} by default
     * @return this builder
     */
    public Builder<T> name(String name) {
      if (!NAME.matcher(name).matches()) {
        String shown = name.substring(0, Math.min(name.length(), 80)).replaceAll("\\p{Cntrl}", "?");
        throw invalid("name must match " + NAME + ", but is \"" + shown + "\".");
      }
      this.name = name;
      return this;
    }

    /**
     * Tells the model more of the object.
     *
     * @param description not blank; none by default
     * @return this builder
     */
    public Builder<T> description(String description) {
      if (description.isBlank()) {
        throw invalid("description must not be blank, but is.");
      }
      this.description = description;
      return this;
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
    }

    /**
     * Makes the request.
     *
     * @return the request
     * @throws InvalidRequestException if the mode is NATIVE and the schema has no strict form, such
     *     as one with a free-form map; the message names the path
     */
    public ObjectRequest<T> build() {
      Optional<String> described = Optional.ofNullable(description);
      ObjectForm form = new ObjectForm(mode, name, described, schema);
      return new ObjectRequest<>(
          request, mode, name, described, form, reader.apply(form.mayBeNative()));
    }
  }
}
