package dev.warpwright.adapters.scripted;

/**
 * What a request asks for.
 *
 * @param conversation the conversation
 * @param form the form of the answer
 */
record ModelRequest(Conversation conversation, ResponseForm form) {}
