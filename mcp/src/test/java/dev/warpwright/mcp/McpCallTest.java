package dev.warpwright.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.agent.AgentResult;
import dev.warpwright.mcp.FakeServer.Wire;
import dev.warpwright.run.RunStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What calls bring back. */
final class McpCallTest {
  @ParameterizedTest
  @EnumSource
  void a_tool_is_listed_and_called_and_its_text_is_the_output(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect();
        Caller caller = new Caller("act")) {
      AgentResult result = caller.run(client.tools());
      assertEquals(RunStatus.COMPLETED, result.status());
      assertEquals("done", Caller.output(result));
    }
  }
}
