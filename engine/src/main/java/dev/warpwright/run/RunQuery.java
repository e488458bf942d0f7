package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which runs a list shows, latest update first and, at equal times, by run id. Immutable.
 *
 * {@snippet :
 * RunQuery.builder(scope).statuses(RunStatus.FAILED).metadata("customer", "42").limit(100).build()
 * }
 */
public final class RunQuery {
  /** The number of runs that a query shows unless it says otherwise. */
  public static final int DEFAULT_LIMIT = 50;

  /** The length of names and values of metadata up to which runs are found by them. */
  public static final int MAX_SEARCHED = 256;

  private static final int MAX_LIMIT = 1000;

  private final RunScope scope;
  private final Set<RunStatus> statuses;
  private final Map<String, String> metadata;
  private final boolean quarantined;
  private final int limit;
  private final Optional<RunSummary> after;

  private RunQuery(Builder builder) {
    this.scope = builder.scope;
    this.statuses = builder.statuses;
    this.metadata = Map.copyOf(builder.metadata);
    this.quarantined = builder.quarantined;
    this.limit = builder.limit;
    this.after = Optional.ofNullable(builder.after);
  }

  /**
   * Begins a query for the runs of a scope.
   *
   * @param scope whose runs
   * @return a builder
   */
  public static Builder builder(RunScope scope) {
    return new Builder(scope);
  }

  /**
   * The first page of all runs of a scope.
   *
   * @param scope whose runs
   * @return a query for at most {@value #DEFAULT_LIMIT} runs
   */
  public static RunQuery all(RunScope scope) {
    return builder(scope).build();
  }

  /**
   * The query for the page after this one.
   *
   * @param last the last run of this page
   * @return the same query, going on after it; no run is skipped or repeated at equal times
   */
  public RunQuery after(RunSummary last) {
    Builder next = new Builder(scope);
    next.statuses = statuses;
    next.metadata.putAll(metadata);
    next.quarantined = quarantined;
    next.limit = limit;
    next.after = last;
    return next.build();
  }

  /**
   * Whose runs.
   *
   * @return the scope
   */
  public RunScope scope() {
    return scope;
  }

  /**
   * Which statuses.
   *
   * @return the statuses, empty for all
   */
  public Set<RunStatus> statuses() {
    return statuses;
  }

  /**
   * Which notes a run must have been started with.
   *
   * @return names and values of its metadata, all of which must be there
   */
  public Map<String, String> metadata() {
    return metadata;
  }

  /**
   * Whether only quarantined runs are shown.
   *
   * @return true for those only
   */
  public boolean quarantined() {
    return quarantined;
  }

  /**
   * How many runs at most.
   *
   * @return 1 to 1000
   */
  public int limit() {
    return limit;
  }

  /**
   * After which run the page begins.
   *
   * @return the last run of the page before, empty for the first page
   */
  public Optional<RunSummary> after() {
    return after;
  }

  /** Collects the parts of a query; not thread-safe. */
  public static final class Builder {
    private final RunScope scope;
    private Set<RunStatus> statuses = Set.of();
    private final Map<String, String> metadata = new TreeMap<>();
    private boolean quarantined;
    private int limit = DEFAULT_LIMIT;
    private @Nullable RunSummary after;

    private Builder(RunScope scope) {
      this.scope = Objects.requireNonNull(scope, "scope");
    }

    /**
     * Shows runs of some statuses only.
     *
     * @param statuses which; all unless set
     * @return this builder
     */
    public Builder statuses(RunStatus... statuses) {
      this.statuses = Set.of(statuses);
      return this;
    }

    /**
     * Shows runs only that were started with a note in their metadata; with several, those that
     * have all.
     *
     * @param name its name
     * @param value its whole value; nothing is found by a name or value of more than {@value
     *     RunQuery#MAX_SEARCHED} characters
     * @return this builder
     */
    public Builder metadata(String name, String value) {
      metadata.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * Shows quarantined runs only.
     *
     * @return this builder
     */
    public Builder quarantined() {
      this.quarantined = true;
      return this;
    }

    /**
     * Limits the page.
     *
     * @param limit 1 to 1000; {@value RunQuery#DEFAULT_LIMIT} unless set
     * @return this builder
     */
    public Builder limit(int limit) {
      if (limit < 1 || limit > MAX_LIMIT) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The limit of a list must be between 1 and %d, but is %d.".formatted(MAX_LIMIT, limit));
      }
      this.limit = limit;
      return this;
    }

    /**
     * Makes the query.
     *
     * @return the query
     */
    public RunQuery build() {
      return new RunQuery(this);
    }
  }
}
