package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.ObjectRequest;
import dev.warpwright.ObjectResult;
import dev.warpwright.bench.report.Question;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.TearDown;
import tools.jackson.databind.json.JsonMapper;

/**
 * What an object costs whose JSON the model has at once: its text checked against the schema and
 * bound to records, beside the same answer as text, and beside Jackson alone, which checks nothing.
 */
@Question(place = 5, value = "What does an object cost more than its text?", baseline = "textAlone")
public class ObjectBenchmark extends Measured {
  private static final String JSON =
      """
      {"number":"A-1044","customer":{"name":"Ada","city":"London"},
       "lines":[{"article":"loom","count":1,"price":129.90},{"article":"warp","count":12,"price":3.25}],
       "total":168.90,"paid":false}
      """;

  /**
   * The object.
   *
   * @param number of the invoice
   * @param customer who pays
   * @param lines what was bought
   * @param total the sum
   * @param paid whether it is settled
   */
  public record Invoice(
      String number, Customer customer, List<Line> lines, BigDecimal total, boolean paid) {}

  /**
   * A part of it.
   *
   * @param name of the customer
   * @param city where
   */
  public record Customer(String name, String city) {}

  /**
   * A part of it.
   *
   * @param article what
   * @param count how many
   * @param price of one
   */
  public record Line(String article, int count, BigDecimal price) {}

  private final Gateway gateway = new InstantModel(JSON).gateway().build();
  private final GenerateRequest text = InstantModel.ask().build();
  private final ObjectRequest<Invoice> object =
      ObjectRequest.of(Invoice.class, MethodHandles.lookup(), text);
  private final JsonMapper jackson = JsonMapper.builder().build();

  /** Ends the gateway. */
  @TearDown
  public void close() {
    gateway.close();
  }

  /**
   * The answer as text.
   *
   * @return the result
   */
  @Benchmark
  public GenerateResult textAlone() {
    return gateway.generate(text);
  }

  /**
   * The answer as an object.
   *
   * @return the result
   */
  @Benchmark
  public ObjectResult<Invoice> object() {
    return gateway.generateObject(object);
  }

  /**
   * The text bound by Jackson, without a gateway and without a check.
   *
   * @return the object
   */
  @Benchmark
  public Invoice jacksonAlone() {
    return jackson.readValue(JSON, Invoice.class);
  }

  /**
   * The schema made of the records, which a program does once.
   *
   * @return the type
   */
  @Benchmark
  public JsonType<Invoice> schemaMade() {
    return JsonType.of(Invoice.class, MethodHandles.lookup());
  }
}
