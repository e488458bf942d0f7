/** A program that calls models over six transports. */
module transports {
  requires dev.warpwright.adapters;
}
