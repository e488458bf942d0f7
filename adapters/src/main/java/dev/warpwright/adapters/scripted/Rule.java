package dev.warpwright.adapters.scripted;

/**
 * A rule of a script.
 *
 * @param name its name
 * @param when its conditions
 * @param answer what it says
 */
record Rule(String name, When when, AnswerTemplate answer) {}
