/** A program on the module path that exports and opens nothing. */
module shop {
  requires dev.warpwright.adapters;
  requires dev.warpwright.store.jdbc;
}
