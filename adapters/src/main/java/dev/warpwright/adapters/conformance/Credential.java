package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.bedrock.AwsCredentials;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.GoogleTokens;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * One way to prove the right to ask a service.
 *
 * @param variables the variables that it takes, all of them
 * @param use gives it to a builder
 */
record Credential(List<String> variables, BiConsumer<AdapterBuilder<?>, Variables> use) {
  /** Google's own library finds it by this variable. */
  static final Credential APPLICATION_DEFAULT =
      new Credential(
          List.of("GOOGLE_APPLICATION_CREDENTIALS"),
          (builder, _) -> builder.tokens(GoogleTokens.applicationDefault()));

  private static final String ACCESS_KEY = "AWS_ACCESS_KEY_ID";
  private static final String SECRET_KEY = "AWS_SECRET_ACCESS_KEY";

  /** Signs with an access key of AWS. */
  static final Credential AWS =
      new Credential(
          List.of(ACCESS_KEY, SECRET_KEY),
          (builder, variables) -> ((Bedrock.Builder) builder).credentials(aws(variables)));

  private static AwsCredentials aws(Variables variables) {
    return new AwsCredentials(
        variables.require(ACCESS_KEY),
        variables.require(SECRET_KEY),
        variables.find("AWS_SESSION_TOKEN"));
  }

  /** A key, or a token, of that variable. */
  static Credential key(String variable) {
    return new Credential(
        List.of(variable), (builder, variables) -> builder.apiKey(variables.require(variable)));
  }

  boolean isThere(Variables variables) {
    return this.variables.stream().allMatch(variables::has);
  }
}
