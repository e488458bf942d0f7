package dev.warpwright.agent;

import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunState;
import dev.warpwright.tool.Tool;
import java.util.LinkedHashMap;
import java.util.Map;

/** Makes requests for approval, bound by a digest to exactly what is to be approved. */
final class Approvals {
  private Approvals() {}

  static ApprovalRequested request(String runId, CallState call, Tool tool) {
    Json arguments = Json.parse(call.call().input().canonical());
    Map<String, Object> subject = new LinkedHashMap<>();
    subject.put("runId", runId);
    subject.put("step", call.step());
    subject.put("toolCallId", call.call().id());
    subject.put("toolName", tool.name());
    subject.put("input", arguments);
    subject.put("toolVersion", tool.version());
    String hex = Digest.hex(Json.of(subject).canonical());
    return new ApprovalRequested(
        "approval_" + hex,
        "sha256:" + hex,
        call.step(),
        call.call().id(),
        tool.name(),
        tool.version(),
        arguments);
  }

  /**
   * Refuses to go on with a run whose approvals were asked for a tool that is another one now.
   *
   * @throws InvalidRequestException if a request no longer matches its call
   */
  static void requireMatching(RunState state, Agent agent) {
    for (CallState call : state.calls()) {
      if (call.approval().isEmpty() || call.isDenied() || call.result().isPresent()) {
        continue;
      }
      ApprovalRequested asked = call.approval().get();
      boolean matches =
          agent
              .tools()
              .find(asked.tool())
              .map(tool -> request(state.run().runId(), call, tool))
              .filter(asked::equals)
              .isPresent();
      if (!matches) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The approval of tool \"%s\" in step %d of run %s no longer matches: it was asked for"
                    .formatted(asked.tool(), asked.step(), state.run())
                + " version \""
                + asked.toolVersion()
                + "\" of the tool. Start a new run, or resume with the tool as it was.");
      }
    }
  }
}
