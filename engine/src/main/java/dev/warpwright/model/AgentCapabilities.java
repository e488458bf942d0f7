package dev.warpwright.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What a model offers to agents, or what an agent needs of one.
 *
 * <p>The set of names is open: an adapter may declare names of its own, and a program ask for them.
 * Those that are known have constants here.
 *
 * {@snippet :
 * AgentCapabilities needed =
 *     AgentCapabilities.of(SupportTier.TIER_A, AgentCapabilities.APPROVAL_REQUESTS);
 * }
 *
 * @param supportTier the tier; as a need, the lowest that will do
 * @param names what is offered or needed besides; each matches {@code [A-Za-z][A-Za-z0-9_.-]{0,63}}
 */
public record AgentCapabilities(SupportTier supportTier, Set<String> names) {
  /** A request may forbid tool calls while tools are offered. */
  public static final String TOOL_CHOICE_NONE = "toolChoiceNone";

  /** The provider can ask for an approval in the middle of its own work. */
  public static final String APPROVAL_REQUESTS = "approvalRequests";

  /** The provider searches the web. */
  public static final String HOSTED_WEB_SEARCH = "hostedWebSearch";

  /** The provider searches files that were given to it. */
  public static final String HOSTED_FILE_SEARCH = "hostedFileSearch";

  /** The provider calls servers of the Model Context Protocol. */
  public static final String REMOTE_MCP = "remoteMcp";

  /** The model operates a screen. */
  public static final String COMPUTER_USE = "computerUse";

  /** The provider runs code that the model writes. */
  public static final String CODE_EXECUTION = "codeExecution";

  /** The model operates a shell. */
  public static final String SHELL = "shell";

  /** The model edits files by patches. */
  public static final String APPLY_PATCH = "applyPatch";

  /** The provider searches among many tools for those that fit. */
  public static final String TOOL_SEARCH = "toolSearch";

  /** The provider reads web pages. */
  public static final String WEB_EXTRACTION = "webExtraction";

  /** The provider loads packaged instructions. */
  public static final String SKILLS = "skills";

  /** Code that the model writes can call the program's tools. */
  public static final String PROGRAMMATIC_TOOL_CALLING = "programmaticToolCalling";

  /** The provider runs several agents. */
  public static final String MULTI_AGENT = "multiAgent";

  /** Tools can be offered in named sets. */
  public static final String TOOLSETS = "toolsets";

  private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}");

  /** Checks and copies the names. */
  public AgentCapabilities {
    Objects.requireNonNull(supportTier, "supportTier");
    names = Collections.unmodifiableSet(new TreeSet<>(names));
    for (String name : names) {
      if (!NAME.matcher(name).matches()) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The name of an agent capability must match "
                + NAME
                + ", but \""
                + (name.length() <= 40 ? name : name.substring(0, 40) + "…")
                    .replaceAll("\\p{Cntrl}", "?")
                + "\" does not.");
      }
    }
  }

  /**
   * Capabilities.
   *
   * @param supportTier the tier
   * @param names what is offered or needed besides
   * @return the capabilities
   * @throws InvalidRequestException if a name breaks its rule
   */
  public static AgentCapabilities of(SupportTier supportTier, String... names) {
    return new AgentCapabilities(supportTier, Set.of(names));
  }

  /**
   * What these lack of a need.
   *
   * @param needed the need
   * @return the tier, if it is higher than this one, then the names that are not here, sorted;
   *     empty if nothing is missing
   */
  public List<String> missing(AgentCapabilities needed) {
    List<String> missing = new ArrayList<>();
    if (!supportTier.atLeast(needed.supportTier)) {
      missing.add("supportTier " + needed.supportTier);
    }
    needed.names.stream().filter(name -> !names.contains(name)).forEach(missing::add);
    return List.copyOf(missing);
  }
}
