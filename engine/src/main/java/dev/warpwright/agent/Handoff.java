package dev.warpwright.agent;

import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.run.RunEvent.RunStarted.HandedOver;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a run hands over to a new run of another agent: a summary, and as much of its conversation
 * as the program chooses. Immutable.
 *
 * {@snippet :
 * AgentResult asked = agents.run(AgentRequest.builder(frontDesk, question).build());
 * Handoff handoff = Handoff.from(asked.state(), asked.text()).to(refunds).build();
 * agents.run(AgentRequest.builder(refunds, "Go on.").handoff(handoff).build());
 * }
 *
 * <p>The new run begins with a user message that names the agent and gives the summary, then the
 * messages of the context, then what its own request asks. Its log says which run it came from. It
 * is no child of that run: neither waits for the other, and neither is cancelled with the other.
 */
public final class Handoff {
  private final String id;
  private final RunKey from;
  private final String fromAgentId;
  private final Optional<String> toAgentId;
  private final String summary;
  private final List<Message> context;
  private final Map<String, String> metadata;

  private Handoff(Builder builder) {
    this.from = builder.from;
    this.fromAgentId = builder.fromAgentId;
    this.toAgentId = Optional.ofNullable(builder.toAgentId);
    this.summary = builder.summary;
    this.context = builder.context;
    this.metadata = builder.metadata;
    this.id = builder.id == null ? derivedId() : builder.id;
  }

  private String derivedId() {
    Json identity = Json.of(List.of(from.runId(), fromAgentId, toAgentId.orElse(""), summary));
    return "handoff_" + Digest.hex(identity.text());
  }

  /**
   * Begins a handoff.
   *
   * @param from the run that hands over, in whatever state it is
   * @param summary what the new run should know; not blank
   * @return a builder
   */
  public static Builder from(RunState from, String summary) {
    return new Builder(from, summary);
  }

  /**
   * The handoff's id.
   *
   * @return the id; unless it was chosen, the same for the same run, agents and summary
   */
  public String id() {
    return id;
  }

  /**
   * The run that hands over.
   *
   * @return the run; the new one must be in its scope
   */
  public RunKey from() {
    return from;
  }

  /**
   * The agent that hands over.
   *
   * @return its id
   */
  public String fromAgentId() {
    return fromAgentId;
  }

  /**
   * The agent that is to go on.
   *
   * @return its id; empty if any may
   */
  public Optional<String> toAgentId() {
    return toAgentId;
  }

  /**
   * What the new run should know.
   *
   * @return the text
   */
  public String summary() {
    return summary;
  }

  /**
   * What the new run is shown of a conversation.
   *
   * @return the messages, none of them a system message
   */
  public List<Message> context() {
    return context;
  }

  /**
   * The program's own notes on it.
   *
   * @return the notes
   */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** What the new run begins with, before what its request asks. */
  List<Message> messages() {
    List<Message> messages = new ArrayList<>();
    messages.add(Message.user("Handoff from %s. Summary: %s".formatted(fromAgentId, summary)));
    messages.addAll(context);
    return messages;
  }

  /** What the log of the new run keeps of it. */
  HandedOver recorded() {
    return new HandedOver(id, fromAgentId, metadata);
  }

  /** Shows id and run; the rest may be private. */
  @Override
  public String toString() {
    return "Handoff[" + id + ", from " + from + "]";
  }

  /** Collects the parts of a handoff; not thread-safe. */
  public static final class Builder {
    private static final int MAX_ID = 256;

    private final RunKey from;
    private final String fromAgentId;
    private final String summary;
    private @Nullable String id;
    private @Nullable String toAgentId;
    private List<Message> context = List.of();
    private Map<String, String> metadata = Map.of();

    private Builder(RunState from, String summary) {
      this.from = from.run();
      this.fromAgentId = from.started().agentId();
      this.summary = Objects.requireNonNull(summary, "summary");
      if (summary.isBlank()) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST, "The summary of a handoff must not be blank.");
      }
    }

    /**
     * Chooses the id.
     *
     * @param id not blank, at most 256 characters; by default it is derived from the run, the
     *     agents and the summary
     * @return this builder
     */
    public Builder id(String id) {
      if (id.isBlank() || id.length() > MAX_ID) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The id of a handoff must have 1 to %d characters and not be blank, but has %d."
                .formatted(MAX_ID, id.length()));
      }
      this.id = id;
      return this;
    }

    /**
     * Says which agent is to go on; a request with another one is refused.
     *
     * @param agent the agent; any by default
     * @return this builder
     */
    public Builder to(Agent agent) {
      this.toAgentId = agent.id();
      return this;
    }

    /**
     * Adds what the new run is shown of a conversation, such as {@link RunState#messages()}. With
     * tool calls in it the new run is an import, see {@link AgentRequest#builder(Agent, List)}.
     *
     * @param messages the messages; system messages among them are left out. None by default
     * @return this builder
     */
    public Builder context(List<Message> messages) {
      this.context = messages.stream().filter(each -> each.role() != Role.SYSTEM).toList();
      return this;
    }

    /**
     * Adds notes of the program's own, which stay in the log of the new run.
     *
     * @param metadata none by default
     * @return this builder
     */
    public Builder metadata(Map<String, String> metadata) {
      this.metadata = Map.copyOf(metadata);
      return this;
    }

    /**
     * Makes the handoff.
     *
     * @return the handoff
     */
    public Handoff build() {
      return new Handoff(this);
    }
  }
}
