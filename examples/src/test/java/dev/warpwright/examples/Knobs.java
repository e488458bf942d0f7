package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectRequest;
import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.openai.Vendor;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Compaction;
import dev.warpwright.agent.Compactor;
import dev.warpwright.agent.HookFailurePolicy;
import dev.warpwright.agent.Invocation;
import dev.warpwright.agent.RunBudget;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetMetrics.Measurement;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.flow.Batch;
import dev.warpwright.flow.FailurePolicy;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowRequest;
import dev.warpwright.flow.Flows;
import dev.warpwright.mcp.McpServer;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.route.AdaptivePolicy;
import dev.warpwright.route.AffinityPolicy;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Worker;
import dev.warpwright.store.jdbc.JdbcAdmission;
import dev.warpwright.store.jdbc.JdbcBudgetStore;
import dev.warpwright.store.jdbc.JdbcRunStore;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.JsonType;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** All types with settings, each under the title of its section, with the settings they have. */
final class Knobs {
  private static final Target TARGET = Target.of("a", "model-a");
  private static final Money DOLLAR = Money.of("1", "USD");

  private record Input(String text) {}

  private Knobs() {}

  static Map<String, List<Knob>> all() {
    Map<String, List<Knob>> types = new LinkedHashMap<>();
    types.put("Gateway.Builder", gateway());
    types.put("GenerateRequest.Builder", request());
    types.put("ObjectRequest.Builder", objectRequest());
    types.put("PriceCeiling", priceCeiling());
    types.put("AdaptivePolicy.Builder", adaptive());
    types.put("AffinityPolicy", Knob.ofRecord(AffinityPolicy.DEFAULT, AffinityPolicy.DEFAULT));
    types.put("RetryPolicy", Knob.ofRecord(RetryPolicy.DEFAULT, RetryPolicy.DEFAULT));
    types.put("CircuitPolicy", circuit());
    types.put("AdmissionPolicy", admission());
    types.put("TargetMetrics.local", metrics());
    types.put("BudgetStore.local", budgetStore());
    types.put("ReservationRule", Knob.ofFactories(ReservationRule.class));
    types.put("CostAccounting.Builder", costAccounting());
    types.put("CachePolicy", cachePolicy());
    types.put("ResponseCache.inMemory", responseCache());
    types.put("ToolExecution", Knob.ofRecord(ToolExecution.DEFAULT, ToolExecution.DEFAULT));
    types.put("Tool.Builder", tool());
    types.put("Agent.Builder", agent());
    Compaction compaction = Compaction.by(source -> Compactor.Summary.of("summary"));
    types.put("Compaction", Knob.ofRecord(compaction, compaction, "compactor"));
    types.put("RunPolicy", Knob.ofRecord(RunPolicy.NONE, RunPolicy.NONE));
    types.put("RunBudget.Builder", runBudget());
    types.put("AgentRequest.Builder", agentRequest());
    types.put("Invocation.Builder", invocation());
    types.put("Agents.Builder", agents());
    types.put("HookFailurePolicy", hookFailurePolicy());
    types.put("Worker.Builder", worker());
    types.put("Flow.Builder", flow());
    types.put("FlowRequest.Builder", flowRequest());
    types.put("Batch", batch());
    types.put("FailurePolicy", failurePolicy());
    types.put("TaskTree.Builder", taskTree());
    types.put("AdapterBuilder", adapter());
    types.put("OpenAi.Builder", openAi());
    types.put("Vendor.Builder", vendor());
    types.put("Anthropic.Builder", anthropic());
    types.put("Bedrock.Builder", bedrock());
    types.put("McpServer.Builder", mcp());
    types.put("McpServer.HttpBuilder", mcpOverHttp());
    types.put("McpServer.StdioBuilder", mcpProcess());
    types.put("JdbcRunStore.Builder", jdbc());
    types.put("JdbcBudgetStore.Builder", jdbcBudget());
    types.put("JdbcAdmission.Builder", jdbcAdmission());
    return types;
  }

  private static List<Knob> gateway() {
    return Knob.ofBuilder(
        Gateway.Builder.class,
        Gateway::builder,
        builder -> ((Gateway.Builder) builder).build().close(),
        new Knob.Defaults()
            .field("adapter/2", "adapters")
            .field("deployment/3", "deployments")
            .field("price/2", "prices")
            .field("latencyBias/2", "latencyBiases")
            .field("adaptive/1", "adaptivePolicy")
            .field("affinity/1", "affinityPolicy")
            .field("attemptTimeout/2", "attemptTimeouts")
            .field("streamIdleTimeout/2", "streamIdleTimeouts")
            .field("carry/1", "carried")
            .field("cache/1", "cachePolicy")
            .field("budget/2", "budgetStore"));
  }

  private static List<Knob> request() {
    return Knob.ofBuilder(
        GenerateRequest.Builder.class,
        () -> GenerateRequest.builder("hello"),
        builder -> ((GenerateRequest.Builder) builder).build(),
        new Knob.Defaults());
  }

  private static List<Knob> objectRequest() {
    return Knob.ofBuilder(
        ObjectRequest.Builder.class,
        () ->
            ObjectRequest.builder(
                JsonType.of(Input.class, MethodHandles.lookup()),
                GenerateRequest.builder("hello").build()),
        builder -> ((ObjectRequest.Builder<?>) builder).build(),
        new Knob.Defaults());
  }

  private static List<Knob> priceCeiling() {
    PriceCeiling base = PriceCeiling.of(DOLLAR);
    return Knob.ofRecord(base, base, "maxCostPer1kTokens");
  }

  /** Set on a preset, which is complete; the defaults are those without one. */
  private static List<Knob> adaptive() {
    AdaptivePolicy.Builder bare = AdaptivePolicy.builder("1");
    Knob.Defaults defaults =
        new Knob.Defaults()
            .required(
                "version/1",
                "latencyScale/1",
                "costScale/1",
                "coldStart/1",
                "unknownCost/1",
                "missingQuality/1")
            .read("weight/2", preset -> Knob.valueOf(bare, "weights"))
            .read("noExploration/0", preset -> Knob.valueOf(bare, "explorationEvery"))
            .read("quality/1", preset -> Knob.valueOf(bare, "profiles"));
    for (String name :
        List.of(
            "throughputScale",
            "missingSignalPenalty",
            "minSamples",
            "minQuality",
            "latencyMetric",
            "explorationEvery")) {
      defaults.read(name + "/1", preset -> Knob.valueOf(bare, name));
    }
    return Knob.ofBuilder(
        AdaptivePolicy.Builder.class,
        () -> AdaptivePolicy.interactive("USD"),
        builder -> ((AdaptivePolicy.Builder) builder).build(),
        defaults);
  }

  /** The widest cooldowns, so that neither is in the way of the other. */
  private static List<Knob> circuit() {
    CircuitPolicy base =
        CircuitPolicy.builder()
            .cooldown(Duration.ofMillis(1))
            .maxCooldown(Duration.ofHours(24))
            .build();
    return Knob.ofRecord(base, CircuitPolicy.DEFAULT);
  }

  private static List<Knob> admission() {
    AdmissionPolicy base = AdmissionPolicy.builder(1).build();
    return Knob.ofRecord(base, base, "maxConcurrent");
  }

  private static List<Knob> metrics() {
    return Knob.ofFactory(
        TargetMetrics.class,
        "local",
        List.of("window", "maxTargets", "maxSamplesPerTarget", "time"),
        List.of(Duration.ofSeconds(1), 1, 1, new ManualTime()),
        Map.of(
            "window",
            () -> Duration.ofNanos((long) Knob.setValueOf(TargetMetrics.local(), "windowNanos")),
            "maxTargets",
            Knobs::targetsMeasuredAtOnce,
            "maxSamplesPerTarget",
            Knobs::samplesKept,
            "time",
            () -> Knob.valueOf(TargetMetrics.local(), "time")));
  }

  private static Object targetsMeasuredAtOnce() {
    TargetMetrics metrics = TargetMetrics.local();
    List<Target> targets =
        IntStream.range(0, 1_000).mapToObj(i -> Target.of("a", "model-" + i)).toList();
    targets.forEach(metrics::begin); // and none of them ends, so that none makes room
    return (int) targets.stream().filter(target -> metrics.snapshot(target).isPresent()).count();
  }

  private static Object samplesKept() {
    TargetMetrics metrics = TargetMetrics.local();
    for (int i = 0; i < 1_000; i++) {
      try (Measurement measurement = metrics.begin(TARGET)) {
        measurement.success(OptionalLong.empty());
      }
    }
    return metrics.snapshot(TARGET).orElseThrow().sampleCount();
  }

  private static List<Knob> budgetStore() {
    return Knob.ofFactory(
        BudgetStore.class,
        "local",
        List.of("limit", "maxScopes"),
        List.of(DOLLAR, 1),
        Map.of("maxScopes", () -> Knob.valueOf(BudgetStore.local(DOLLAR), "maxScopes")));
  }

  private static List<Knob> costAccounting() {
    return Knob.ofBuilder(
        CostAccounting.Builder.class,
        () -> CostAccounting.builder(ModelCatalog.builder("1").build()),
        builder -> ((CostAccounting.Builder) builder).build(),
        new Knob.Defaults());
  }

  private static List<Knob> cachePolicy() {
    CachePolicy base = CachePolicy.of(ResponseCache.inMemory(), "x");
    return Knob.ofRecord(base, base, "cache", "authenticationScope");
  }

  private static List<Knob> responseCache() {
    ResponseCache cache = ResponseCache.inMemory();
    return Knob.ofFactory(
        ResponseCache.class,
        "inMemory",
        List.of("maxEntries", "timeToLive", "time"),
        List.of(1, Duration.ofSeconds(1), new ManualTime()),
        Map.of(
            "maxEntries", () -> Knob.valueOf(cache, "maxEntries"),
            "timeToLive", () -> Knob.valueOf(cache, "timeToLive"),
            "time", () -> Knob.valueOf(cache, "time")));
  }

  private static List<Knob> tool() {
    return Knob.ofBuilder(
        Tool.Builder.class,
        () ->
            Tool.builder(
                "tool",
                "Does nothing.",
                Input.class,
                MethodHandles.lookup(),
                EffectClass.IDEMPOTENT, // which every setting fits
                (input, context) -> null),
        builder -> ((Tool.Builder<?>) builder).build(),
        new Knob.Defaults()
            .field("requiresApproval/0", "approval")
            .field("requiresApproval/1", "approval")
            .field("enabledIf/1", "enabled")
            .field("idempotencyKey/1", "key"));
  }

  private static List<Knob> agent() {
    return Knob.ofBuilder(
        Agent.Builder.class,
        () -> Agent.builder("agent", Route.of(TARGET)),
        builder -> ((Agent.Builder) builder).build(),
        new Knob.Defaults());
  }

  private static List<Knob> runBudget() {
    return Knob.ofBuilder(
        RunBudget.Builder.class,
        RunBudget::builder,
        builder -> ((RunBudget.Builder) builder).build(),
        new Knob.Defaults());
  }

  private static List<Knob> agentRequest() {
    return Knob.ofBuilder(
        AgentRequest.Builder.class,
        () -> AgentRequest.builder(Agent.builder("agent", Route.of(TARGET)).build(), "hello"),
        builder -> run(((AgentRequest.Builder) builder).build()),
        new Knob.Defaults());
  }

  /** Some parts of a request are checked when its run begins. */
  private static void run(AgentRequest request) {
    try (Gateway gateway =
        Gateway.builder()
            .adapter("a", ScriptedModel.answering("Hello."))
            .time(new ManualTime())
            .build()) {
      Agents.builder(gateway).build().run(request);
    }
  }

  private static List<Knob> invocation() {
    return Knob.ofBuilder(
        Invocation.Builder.class,
        Invocation::builder,
        builder -> ((Invocation.Builder) builder).build(),
        new Knob.Defaults()
            .field("allowUnboundRun/1", "allowsUnboundRun")
            .field("withoutCompaction/0", "compacts"));
  }

  private static List<Knob> agents() {
    return Knob.ofBuilder(
        Agents.Builder.class,
        () -> Agents.builder(Gateway.builder().build()),
        builder -> ((Agents.Builder) builder).build(),
        new Knob.Defaults().field("foldCache/1", "foldCacheBytes"));
  }

  private static List<Knob> hookFailurePolicy() {
    return Knob.ofBuilder(
        HookFailurePolicy.class,
        () -> HookFailurePolicy.IGNORE,
        policy -> {},
        new Knob.Defaults().field("onError/1", "listener"));
  }

  private static Flow.Builder<String, String> echo() {
    return Flow.builder("echo", String.class, String.class, (flow, input) -> input);
  }

  private static List<Knob> flow() {
    return Knob.ofBuilder(
        Flow.Builder.class,
        Knobs::echo,
        builder -> ((Flow.Builder<?, ?>) builder).build(),
        new Knob.Defaults());
  }

  private static List<Knob> flowRequest() {
    return Knob.ofBuilder(
        FlowRequest.Builder.class,
        () -> FlowRequest.builder(echo().build(), "hello"),
        builder -> run(((FlowRequest.Builder<?, ?>) builder).build()),
        new Knob.Defaults());
  }

  private static void run(FlowRequest<?, ?> request) {
    Flows.on(TaskTree.builder().build(), RunStore.inMemory()).run(request);
  }

  private static List<Knob> worker() {
    return Knob.ofBuilder(
        Worker.Builder.class,
        () -> Worker.builder(RunStore.inMemory()),
        builder -> {}, // a driver is needed to start one; each setting is checked when it is set
        new Knob.Defaults().field("drives/1", "drivers"));
  }

  private static List<Knob> batch() {
    Agent agent = Agent.builder("agent", Route.of(TARGET)).build();
    return Knob.ofBuilder(
        Batch.class,
        () -> Batch.of("batch", agent, List.<String>of(), item -> item, item -> item),
        batch -> {},
        new Knob.Defaults()
            .field("metadata/1", "metadataOf")
            .field("invocation/1", "invocationOf")
            .field("onFailure/1", "failures")
            .field("onProgress/1", "listener"));
  }

  private static List<Knob> failurePolicy() {
    return Knob.ofBuilder(
        FailurePolicy.class,
        FailurePolicy::stopStarting,
        policy -> {},
        new Knob.Defaults()
            .field("maxFailures/1", "most")
            .field("maxFailureFraction/1", "mostFraction"));
  }

  private static List<Knob> taskTree() {
    return Knob.ofBuilder(
        TaskTree.Builder.class,
        TaskTree::builder,
        builder -> ((TaskTree.Builder) builder).build(),
        new Knob.Defaults().field("carry/1", "carried"));
  }

  /** What the builders of all adapters share. */
  private static List<Knob> adapter() {
    return Knob.ofBuilder(
        AdapterBuilder.class,
        () -> OpenAi.builder().apiKey("x"),
        builder -> ((AdapterBuilder<?>) builder).build().close(),
        new Knob.Defaults()
            .read("apiKey/1", builder -> null) // a fresh builder has none, but ours need one
            .read("baseUrl/1", builder -> null) // each provider has its own
            .read("header/2", builder -> Knob.valueOf(settings(builder), "headers"))
            .read("tokens/1", builder -> Knob.valueOf(settings(builder), "authorization"))
            .field("capabilities/1", "declared")
            .field("models/1", "models")
            .read("connectTimeout/1", builder -> Knob.valueOf(settings(builder), "CONNECT_TIMEOUT"))
            .read("httpClient/1", builder -> Knob.valueOf(settings(builder), "httpClient"))
            .read("allowCleartext/0", builder -> Knob.valueOf(settings(builder), "allowCleartext"))
            .read("clock/1", builder -> "InstantSource.system()")
            .read("fromEnvironment/1", builder -> Knob.valueOf(settings(builder), "environmentKey"))
            .read("publicHostsOnly/0", builder -> Knob.valueOf(settings(builder), "onlyPublic"))
            .read(
                "fromEnvironment/0", builder -> Knob.valueOf(settings(builder), "environmentKey")));
  }

  private static List<Knob> openAi() {
    return Knob.ofBuilder(
        OpenAi.Builder.class,
        () -> OpenAi.builder().apiKey("x"),
        builder -> ((OpenAi.Builder) builder).build().close(),
        new Knob.Defaults());
  }

  private static List<Knob> vendor() {
    return Knob.ofBuilder(
        Vendor.Builder.class,
        () -> Vendor.builder("acme", URI.create("https://llm.acme.example/v1")),
        builder -> ((Vendor.Builder) builder).build(),
        new Knob.Defaults()
            .read("apis/2", builder -> Knob.valueOf(builder, "rule"))
            .read(
                "capabilities/1",
                builder ->
                    Knob.setValueOf(builder, "capabilities")
                            .equals(ModelCapabilities.TEXT_AND_TOOLS)
                        ? "text and tools"
                        : "others")
            .read("reasoning/2", builder -> null));
  }

  private static List<Knob> bedrock() {
    return Knob.ofBuilder(
        Bedrock.Builder.class,
        () -> Bedrock.builder("eu-west-3").baseUrl(URI.create("https://bedrock.example")),
        builder -> ((Bedrock.Builder) builder).build().close(),
        new Knob.Defaults().read("credentials/1", builder -> null));
  }

  private static List<Knob> anthropic() {
    return Knob.ofBuilder(
        Anthropic.Builder.class,
        () -> Anthropic.builder().apiKey("x"),
        builder -> ((Anthropic.Builder) builder).build().close(),
        new Knob.Defaults()
            .field("beta/1", "betas")
            .read("thinkingBudget/1", Knobs::thinking)
            .read("adaptiveThinking/0", Knobs::thinking));
  }

  private static McpServer.HttpBuilder mcpServer() {
    return McpServer.http(URI.create("http://localhost:1/mcp"));
  }

  private static List<Knob> mcp() {
    return Knob.ofBuilder(
        McpServer.Builder.class,
        Knobs::mcpServer,
        builder -> {}, // every setting is checked when it is set
        new Knob.Defaults()
            .read("prefix/1", builder -> Knob.setValueOf(builder, "prefix").equals("") ? null : "")
            .field("rename/2", "names")
            .field("effect/2", "effects"));
  }

  private static List<Knob> mcpOverHttp() {
    return Knob.ofBuilder(
        McpServer.HttpBuilder.class,
        Knobs::mcpServer,
        builder -> {},
        new Knob.Defaults()
            .read("bearer/1", builder -> Knob.valueOf(settings(builder), "authorization"))
            .read("tokens/1", builder -> Knob.valueOf(settings(builder), "authorization"))
            .read("header/2", builder -> Knob.valueOf(settings(builder), "headers"))
            .read("connectTimeout/1", builder -> Knob.valueOf(settings(builder), "CONNECT_TIMEOUT"))
            .read("httpClient/1", builder -> Knob.valueOf(settings(builder), "httpClient"))
            .read("allowCleartext/0", builder -> Knob.valueOf(settings(builder), "allowCleartext"))
            .read("publicHostsOnly/0", builder -> Knob.valueOf(settings(builder), "onlyPublic")));
  }

  private static List<Knob> mcpProcess() {
    return Knob.ofBuilder(
        McpServer.StdioBuilder.class,
        () -> McpServer.stdio("server"),
        builder -> {},
        new Knob.Defaults());
  }

  private static Object settings(Object builder) {
    return Knob.setValueOf(builder, "settings");
  }

  private static @Nullable Object thinking(Object builder) {
    Object thinking = Knob.setValueOf(builder, "thinking");
    return thinking.toString().equals("Unset[]") ? null : thinking;
  }

  private static List<Knob> jdbc() {
    return Knob.ofBuilder(
        JdbcRunStore.Builder.class,
        () -> JdbcRunStore.builder("jdbc:h2:mem:knobs"),
        builder -> {}, // every setting is checked when it is set
        new Knob.Defaults()
            .field("timeSource/1", "time")
            .read(
                "queueBounds/2",
                builder ->
                    Arrays.asList(
                        Knob.valueOf(builder, "maxQueuedEvents"),
                        Knob.valueOf(builder, "maxQueuedBytes")))
            .read("owner/1", Knobs::owner));
  }

  private static List<Knob> jdbcBudget() {
    return Knob.ofBuilder(
        JdbcBudgetStore.Builder.class,
        () -> JdbcBudgetStore.builder("jdbc:h2:mem:knobs", Money.of("1", "USD")),
        builder -> {},
        new Knob.Defaults()
            .field("timeSource/1", "time")
            .read("connections/1", Knobs::connections));
  }

  private static List<Knob> jdbcAdmission() {
    return Knob.ofBuilder(
        JdbcAdmission.Builder.class,
        () -> JdbcAdmission.builder("jdbc:h2:mem:knobs", AdmissionPolicy.builder(1).build()),
        builder -> {},
        new Knob.Defaults()
            .field("timeSource/1", "time")
            .read("connections/1", Knobs::connections));
  }

  private static Object connections(Object builder) {
    Object onH2 = Knob.setValueOf(builder, "connections");
    Object onPostgres =
        Knob.setValueOf(
            builder instanceof JdbcBudgetStore.Builder
                ? JdbcBudgetStore.builder(nowhere(), Money.of("1", "USD"))
                : JdbcAdmission.builder(nowhere(), AdmissionPolicy.builder(1).build()),
            "connections");
    return onH2 + ", on PostgreSQL " + onPostgres;
  }

  /** A source of connections that nobody takes one of. */
  private static DataSource nowhere() {
    return (DataSource)
        Proxy.newProxyInstance(
            Knobs.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (_, method, _) -> {
              throw new UnsupportedOperationException(method.getName());
            });
  }

  private static Object owner(Object builder) {
    Object owner = Knob.setValueOf(builder, "owner");
    return owner.equals("warpwright-" + ProcessHandle.current().pid()) ? "by process id" : owner;
  }
}
