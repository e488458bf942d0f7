package dev.warpwright.agent;

import dev.warpwright.run.CallState;

/**
 * A call that a child run answers.
 *
 * @param call the call as it stood when it was judged
 * @param subAgent who answers it
 */
record ChildCall(CallState call, SubAgent subAgent) {}
