/** Tools of remote servers that speak the Model Context Protocol. */
@org.jspecify.annotations.NullMarked
module dev.warpwright.mcp {
  requires org.slf4j;
  requires static org.jspecify;
  requires tools.jackson.databind;
  requires transitive dev.warpwright.adapters;

  exports dev.warpwright.mcp;
}
