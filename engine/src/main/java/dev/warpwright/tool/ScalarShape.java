package dev.warpwright.tool;

/** A string, number or boolean. Its Java values are comparable, so a set of them stays cheap. */
sealed interface ScalarShape extends Shape
    permits BooleanShape, DecimalShape, IntegerShape, TextShape {}
