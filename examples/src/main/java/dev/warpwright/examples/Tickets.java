package dev.warpwright.examples;

import dev.warpwright.model.InvalidRequestException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The tickets of a file, one JSON object a line, never all in memory. Bad lines are found when it
 * is opened; iterating leaves them out.
 */
final class Tickets implements Iterable<Ticket>, AutoCloseable {
  private final Supplier<Lines> file;
  private final List<BadLine> badLines;
  private final boolean empty;
  private final Set<Long> badNumbers = new HashSet<>();
  private final List<Lines> open = new ArrayList<>();

  /**
   * A line that is no ticket.
   *
   * @param number its number, from 1
   * @param reason why, without its content
   */
  record BadLine(long number, String reason) {}

  private Tickets(Supplier<Lines> file, List<BadLine> badLines, boolean empty) {
    this.file = file;
    this.badLines = badLines;
    this.empty = empty;
    badLines.forEach(bad -> badNumbers.add(bad.number()));
  }

  /** Reads the file once to find its bad lines. */
  static Tickets open(Supplier<Lines> file) {
    List<BadLine> bad = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    try (Lines lines = file.get()) {
      for (Optional<Lines.Line> line = lines.next(); line.isPresent(); line = lines.next()) {
        problem(line.get(), ids).ifPresent(bad::add);
      }
    }
    return new Tickets(file, bad, ids.isEmpty());
  }

  private static Optional<BadLine> problem(Lines.Line line, Set<String> ids) {
    if (line.isBlank()) {
      return Optional.empty();
    }
    try {
      Ticket ticket = Ticket.parse(line.text().orElseThrow(() -> new JobException("Not UTF-8.")));
      return ids.add(ticket.id())
          ? Optional.empty()
          : Optional.of(
              new BadLine(line.number(), "An earlier line has the id " + ticket.id() + " too."));
    } catch (JobException | InvalidRequestException e) {
      return Optional.of(new BadLine(line.number(), String.valueOf(e.getMessage())));
    }
  }

  List<BadLine> badLines() {
    return badLines;
  }

  /** Whether no line is a ticket. */
  boolean isEmpty() {
    return empty;
  }

  @Override
  public Iterator<Ticket> iterator() {
    Lines lines = file.get();
    open.add(lines);
    return new Iterator<>() {
      private Optional<Ticket> next = read();

      private Optional<Ticket> read() {
        Optional<Lines.Line> line = lines.next();
        while (line.isPresent()
            && (line.get().isBlank() || badNumbers.contains(line.get().number()))) {
          line = lines.next();
        }
        return line.map(good -> Ticket.parse(good.text().orElseThrow()));
      }

      @Override
      public boolean hasNext() {
        return next.isPresent();
      }

      @Override
      public Ticket next() {
        Ticket ticket = next.orElseThrow(NoSuchElementException::new);
        next = read();
        return ticket;
      }
    };
  }

  /** Closes the file, also where an iteration stopped before the end. */
  @Override
  public void close() {
    open.forEach(Lines::close);
  }
}
