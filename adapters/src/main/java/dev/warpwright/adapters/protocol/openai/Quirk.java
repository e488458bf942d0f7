package dev.warpwright.adapters.protocol.openai;

/** What a vendor does otherwise than OpenAI, in either of the two protocols. */
public enum Quirk {
  /** A turn that holds only calls has an empty text, not null. */
  EMPTY_TEXT_BESIDE_CALLS,
  /** The limit of output tokens is called {@code max_tokens}, also where reasoning is asked for. */
  ONE_NAME_FOR_LIMIT,
  /** A stream reports its usage unasked, and {@code stream_options} is refused. */
  NO_STREAM_OPTIONS,
  /** To demand some tool is called {@code any}, not {@code required}. */
  REQUIRED_IS_ANY,
  /** The path names the model, and the body must not. */
  MODEL_IN_PATH,
  /** Where no total tells, reasoning stands beside the output counter. */
  REASONING_BESIDE_OUTPUT,
  /** Whether a tool is called is left to the model; nothing else can be said. */
  AUTO_CHOICE_ONLY,
  /** That tools are left to the model has to be said, and all else that can be said is none. */
  CHOICE_IS_AUTO_OR_NONE,
  /** A tool can be demanded by name, but not while the model reasons. */
  NAMED_TOOL_UNLESS_REASONING,
  /** A schema stands in a system message, and only JSON is asked for. */
  SCHEMA_IN_MESSAGE,
  /** Upstream services stand behind it, of which it tries others unless that is forbidden. */
  UPSTREAM_FALLBACK,
  /** Streams bring the arguments of calls in pieces only if {@code tool_stream} asks for it. */
  TOOL_STREAM,
  /** A model that thinks demands what it thought before every call of the conversation. */
  THINKS_OVER_OWN_CALLS_ONLY,
  /** At most 128 tools, also those of earlier calls with names of {@code [A-Za-z0-9_-]{1,64}}. */
  STRICT_TOOLS,
  /** Reasoning cannot be asked to be left out. */
  NO_EFFORT_NONE,
  /** A tool is demanded by name as the only one that is allowed. */
  NAMED_TOOL_IS_ALLOWED_TOOLS,
  /** Responses takes no limit of output tokens. */
  NO_LIMIT_IN_RESPONSES,
  /** Responses takes no form of answer. */
  NO_FORMAT_IN_RESPONSES,
  /** Responses is told by {@code enable_thinking} not to think, and calls a low effort minimal. */
  SWITCH_IN_RESPONSES,
  /** Encrypted reasoning is asked for with every call. */
  ALWAYS_ENCRYPTED,
  /** Encrypted reasoning does not exist. */
  NEVER_ENCRYPTED
}
