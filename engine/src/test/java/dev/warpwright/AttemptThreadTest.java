package dev.warpwright;

import static dev.warpwright.FakeModel.answer;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.task.TaskInfo;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On which thread a model is asked, by what it declares of interrupts. */
final class AttemptThreadTest {
  @RegisterExtension final Spine spine = new Spine();
  private final AtomicReference<@Nullable Thread> asked = new AtomicReference<>();

  private FakeModel.Reply noting() {
    return call -> {
      asked.set(Thread.currentThread());
      return answer("Hello.", FinishReason.Kind.STOP);
    };
  }

  @Test
  @Tag("R121")
  void a_model_that_declares_nothing_is_asked_on_a_thread_of_its_own_named_by_its_place() {
    spine.a.then(noting());

    GenerateResult result = spine.gateway().generate(request(A));

    Thread thread = asked.get();
    assertTrue(thread != null && thread.isVirtual());
    assertNotSame(Thread.currentThread(), thread);
    assertEquals(
        result.tasks().name() + "/attempt 1 a/model-a", thread.getName(), "the place in the tree");
  }

  @Test
  @Tag("R371")
  void a_model_that_declares_to_honour_interrupts_is_asked_on_the_caller_s_thread() {
    spine.a.honouringInterrupts(true).then(noting());

    GenerateResult result = spine.gateway().generate(request(A));

    assertSame(Thread.currentThread(), asked.get());
    assertEquals("attempt 1 a/model-a", result.tasks().children().getFirst().name());
  }

  @Test
  @Tag("R121")
  void a_declaration_that_fails_declares_nothing() {
    LanguageModel model =
        new LanguageModel() {
          @Override
          public ModelCapabilities capabilities() {
            return ModelCapabilities.TEXT;
          }

          @Override
          public boolean honoursInterrupts() {
            throw new IllegalStateException();
          }

          @Override
          public ModelResponse generate(ModelCall call) throws InterruptedException {
            return noting().to(call);
          }
        };
    Gateway gateway = spine.build(spine.builder().adapter("a", id -> model));

    assertEquals("Hello.", gateway.generate(request(A)).text());
    assertNotSame(Thread.currentThread(), asked.get());
  }

  @Test
  @Tag("R110")
  @Tag("R364")
  void an_attempt_on_the_caller_s_thread_is_live_and_timed_out_without_a_trace_on_the_thread()
      throws Exception {
    spine.a.honouringInterrupts(true).hangs();
    spine.b.honouringInterrupts(true);
    spine.b.then(
        call -> {
          assertFalse(Thread.currentThread().isInterrupted(), "an interrupt for the one before");
          return answer("from b", FinishReason.Kind.STOP);
        });
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .attemptTimeout(Duration.ofSeconds(3))
                .retry(new RetryPolicy(0, Duration.ZERO, 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(3));
    List<TaskInfo> live = gateway.diagnostics().liveTasks();
    assertEquals("attempt 1 a/model-a", live.getLast().name());
    spine.advance(3_000);

    assertEquals("from b", caller.get().text());
    assertFalse(caller.leftInterrupted());
  }

  @Test
  @Tag("R17")
  @Tag("R117")
  void an_interrupt_of_the_caller_during_such_an_attempt_cancels_the_operation() throws Exception {
    spine.a.honouringInterrupts(true).hangs();
    Gateway gateway = spine.gateway();

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.a.awaitBusy();
    caller.interrupt();

    OperationCancelledException failure = caller.failure(OperationCancelledException.class);
    assertTrue(caller.leftInterrupted());
    assertEquals(1, failure.trace().attempts().size());
    assertEquals(ReasonCode.REQUEST_ABORTED, failure.trace().attempts().getFirst().reasonCode());
    assertEquals(0, spine.b.count());
  }

  /** Lets everybody in, and notes on which threads it is asked, which are those of operations. */
  private static final class Porter implements AdmissionController {
    private final List<Thread> asking = new CopyOnWriteArrayList<>();

    @Override
    public Admission tryAcquire(AdmissionRequest request) {
      asking.add(Thread.currentThread());
      return AdmissionController.unlimited().tryAcquire(request);
    }

    @Override
    public Admission.Decision acquire(AdmissionRequest request) throws InterruptedException {
      return AdmissionController.unlimited().acquire(request);
    }
  }

  @Test
  void an_operation_of_a_platform_thread_is_handed_over_once_however_many_threads_it_starts()
      throws Exception {
    Porter porter = new Porter();
    spine.a.fails(FakeModel.status(500), 3);
    spine.b.fails(FakeModel.status(500), 2).says("at last");
    Gateway gateway = spine.build(spine.builder().admission(porter));
    FutureTask<GenerateResult> call = new FutureTask<>(() -> gateway.generate(request(A, B)));
    Thread caller = Thread.ofPlatform().daemon().start(call);

    assertEquals("at last", call.get(60, TimeUnit.SECONDS).text());

    assertEquals(6, porter.asking.size());
    assertEquals(1, Set.copyOf(porter.asking).size());
    assertTrue(porter.asking.getFirst().isVirtual());
    assertNotSame(caller, porter.asking.getFirst());
  }

  @Test
  void an_operation_of_a_platform_thread_that_starts_no_thread_stays_there() throws Exception {
    Porter porter = new Porter();
    spine.a.honouringInterrupts(true).fails(FakeModel.status(500), 3);
    spine.b.honouringInterrupts(true).then(noting());
    Gateway gateway = spine.build(spine.builder().admission(porter));
    FutureTask<GenerateResult> call = new FutureTask<>(() -> gateway.generate(request(A, B)));
    Thread caller = Thread.ofPlatform().daemon().start(call);

    assertEquals("Hello.", call.get(60, TimeUnit.SECONDS).text());

    assertEquals(Set.of(caller), Set.copyOf(porter.asking));
    assertSame(caller, asked.get());
  }
}
