package dev.warpwright.control;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Target;

/**
 * Whether a call may be answered from a cache, and under which key. Pure functions.
 *
 * <p>A key covers the scopes, the target with its deployment, and all of the call that can change
 * the answer: each message with its role, and every option. It does not cover the deadline. Calls
 * are compared exactly: with one character more it is another call.
 */
public sealed interface Cacheability {

  /**
   * The call may be cached.
   *
   * @param key under which
   */
  record Keyed(CacheKey key) implements Cacheability {}

  /**
   * The call is made without a cache.
   *
   * @param reason why
   */
  record Bypassed(Reason reason) implements Cacheability {}

  /** Why a call is made without a cache. */
  enum Reason {
    /** The model may call tools. */
    TOOLS,
    /** It has options that only the provider understands, which may mean anything. */
    PROVIDER_OPTIONS,
    /** It shows pictures. */
    IMAGES,
    /** Tools were called in the conversation. */
    TOOL_HISTORY,
    /** The conversation holds private state of a provider. */
    PROVIDER_STATE,
    /** Something in it looks like a secret; who sees digests could try out guesses of it. */
    SECRET,
    /** Something in it cannot be written down in exactly one way. */
    NO_CANONICAL_FORM
  }

  /**
   * Judges a call.
   *
   * @param scope for whom it is made
   * @param target where it goes
   * @param call the call
   * @return its key, or why it has none
   */
  static Cacheability of(CacheScope scope, Target target, ModelCall call) {
    return CanonicalCall.write(scope, target, call).judge();
  }

  /**
   * Whether an answer may be kept: it is text and nothing else, and complete or cut off by its own
   * limit. Not kept are tool calls, media, private state, and what may come out otherwise when it
   * is asked for again: answers that were refused, filtered or paused, and empty ones.
   *
   * @param response the answer
   * @return true if it may be kept
   */
  static boolean storable(ModelResponse response) {
    FinishReason.Kind end = response.finishReason().kind();
    return (end == FinishReason.Kind.STOP || end == FinishReason.Kind.LENGTH)
        && response.message().parts().stream().allMatch(Part.Text.class::isInstance)
        && !response.message().text().isEmpty();
  }
}
