package dev.warpwright.adapters.conformance;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The providers themselves, if the environment asks for them; they cost a fraction of a cent. */
@EnabledIfEnvironmentVariable(named = LiveCheck.VARIABLE, matches = ".*\\S.*")
final class LiveIT {
  @TestFactory
  Stream<DynamicTest> a_provider_answers_whole_and_streamed() {
    return new LiveCheck(Provider.ALL, System::getenv, System.out).tests();
  }
}
