import org.jspecify.annotations.NullMarked;

/** The engine: task tree, routing, tools, agents and durable runs. */
@NullMarked
@SuppressWarnings("module") // the modules of the qualified export are built after this one
module dev.warpwright.engine {
  requires com.networknt.schema;
  requires org.slf4j;
  requires static org.junit.jupiter.api; // not transitive: whoever compiles would need it then
  requires static transitive org.jspecify;
  requires tools.jackson.databind;

  exports dev.warpwright;
  exports dev.warpwright.agent;
  exports dev.warpwright.control;
  exports dev.warpwright.cost;
  exports dev.warpwright.flow;
  exports dev.warpwright.model;
  exports dev.warpwright.route;
  exports dev.warpwright.run;
  exports dev.warpwright.task;
  exports dev.warpwright.testing;
  exports dev.warpwright.tool;
  exports dev.warpwright.json to
      dev.warpwright.adapters,
      dev.warpwright.mcp,
      dev.warpwright.store.jdbc;
}
