package dev.warpwright.store.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.run.Append;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A run as the table has it.
 *
 * @param id the internal id, which stands for scope and run id
 * @param sequence where its log ends
 * @param dueNanos from when on a driver may take it up that nobody owns
 * @param signals the names of those that make it due, and the children whose end does, encoded
 * @param owner its owner, who may be gone
 * @param ownership whose worker the owner's is
 * @param claims how often in a row it was taken up in vain
 * @param problem what the last driver said
 */
record RunRow(
    long id,
    long sequence,
    RunStatus status,
    @Nullable Long dueNanos,
    @Nullable String signals,
    long updatedNanos,
    @Nullable Writer owner,
    Ownership ownership,
    int claims,
    @Nullable String problem) {
  private static final String CHILD = "!";

  /** Whose a run is, by the workers. */
  enum Ownership {
    /** Nobody's, or that of a worker whose epoch or lease has ended. */
    NONE,
    /** That of this store. */
    HERE,
    /** That of another store that is open. */
    ELSEWHERE
  }

  /**
   * What of a row is written once.
   *
   * @param parent the id of the run that it is a child of
   */
  record Origin(
      String agentId,
      @Nullable String idempotencyKey,
      @Nullable String parent,
      long createdNanos,
      Map<String, String> metadata) {}

  /** The row of a run that is to be inserted. */
  static RunRow created(
      long sequence, Standing standing, long updatedNanos, @Nullable Writer owner) {
    return new RunRow(
        0,
        sequence,
        standing.status(),
        nanos(standing),
        encode(standing),
        updatedNanos,
        owner,
        owner == null ? Ownership.NONE : Ownership.HERE,
        0,
        null);
  }

  private static @Nullable Long nanos(Standing standing) {
    return standing.due().map(Times::nanos).orElse(null);
  }

  /** Names, and behind a mark, which no name begins with then, the ids of children. */
  private static @Nullable String encode(Standing standing) {
    if (standing.signals().isEmpty() && standing.children().isEmpty()) {
      return null;
    }
    return Stream.concat(
            standing.signals().stream().map(RunRow::encode),
            standing.children().stream().map(child -> CHILD + encode(child)))
        .sorted()
        .collect(Collectors.joining(" "));
  }

  private static String encode(String name) {
    return URLEncoder.encode(name, UTF_8);
  }

  /** Where a run stands, by the columns of its row. */
  static Standing standing(RunStatus status, @Nullable Long dueNanos, @Nullable String signals) {
    List<String> awaited = signals == null ? List.of() : List.of(signals.split(" "));
    return new Standing(
        status,
        Optional.ofNullable(dueNanos).map(Times::instant),
        awaited.stream()
            .filter(text -> !text.startsWith(CHILD))
            .map(RunRow::decode)
            .collect(Collectors.toUnmodifiableSet()),
        awaited.stream()
            .filter(text -> text.startsWith(CHILD))
            .map(text -> decode(text.substring(CHILD.length())))
            .collect(Collectors.toUnmodifiableSet()));
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, UTF_8);
  }

  /** Where it stands. */
  Standing standing() {
    return standing(status, dueNanos, signals);
  }

  /** After something came that it waits for. */
  RunRow dueAt(long nanos) {
    Standing due = standing().dueAt(Times.instant(nanos));
    return new RunRow(
        id, sequence, status, nanos(due), signals, updatedNanos, owner, ownership, claims, problem);
  }

  RunRow withId(long assigned) {
    return new RunRow(
        assigned,
        sequence,
        status,
        dueNanos,
        signals,
        updatedNanos,
        owner,
        ownership,
        claims,
        problem);
  }

  RunRow withOwnership(Ownership found) {
    return new RunRow(
        id, sequence, status, dueNanos, signals, updatedNanos, owner, found, claims, problem);
  }

  /** After an append; progress of a driver forgets its failures. */
  RunRow advanced(Append append, Standing standing, long timeNanos, boolean progress) {
    return new RunRow(
        id,
        sequence + append.events().size(),
        standing.status(),
        nanos(standing),
        encode(standing),
        timeNanos,
        append.handsBack() ? null : owner,
        append.handsBack() ? Ownership.NONE : ownership,
        progress ? 0 : claims,
        progress ? null : problem);
  }

  /** Taken up by a driver of this store. */
  RunRow claimedBy(Writer writer) {
    return ownedBy(writer, claims + 1);
  }

  /** Taken for a decision. */
  RunRow borrowedBy(Writer writer) {
    return ownedBy(writer, claims);
  }

  private RunRow ownedBy(Writer writer, int counted) {
    return new RunRow(
        id,
        sequence,
        status,
        dueNanos,
        signals,
        updatedNanos,
        writer,
        Ownership.HERE,
        counted,
        problem);
  }

  /** Handed back. */
  RunRow released(Optional<String> why) {
    return new RunRow(
        id,
        sequence,
        status,
        dueNanos,
        signals,
        updatedNanos,
        null,
        Ownership.NONE,
        claims,
        why.orElse(problem));
  }

  /** Let out of quarantine. */
  RunRow readmitted() {
    return new RunRow(
        id, sequence, status, dueNanos, signals, updatedNanos, owner, ownership, 0, problem);
  }

  /** Whether nobody owns it, or somebody who is gone. */
  boolean isFree() {
    return ownership == Ownership.NONE;
  }

  /** Whether a driver of this store may write as this owner. */
  boolean isDrivenBy(Writer writer) {
    return ownership == Ownership.HERE && writer.equals(owner);
  }

  /** Whether it is created in this very transaction, and not in the table yet. */
  boolean isUnsent() {
    return id < 0;
  }

  boolean isQuarantined() {
    return claims >= RunStore.MAX_CLAIMS;
  }
}
