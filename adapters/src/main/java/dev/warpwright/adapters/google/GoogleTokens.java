package dev.warpwright.adapters.google;

import dev.warpwright.adapters.TokenSource;
import dev.warpwright.adapters.http.Refusal;

/** Where tokens for Google Cloud come from. */
public final class GoogleTokens {
  private static final String LIBRARY = "com.google.auth.oauth2.GoogleCredentials";

  private GoogleTokens() {}

  /**
   * Application Default Credentials: the file that {@code GOOGLE_APPLICATION_CREDENTIALS} names,
   * else those of {@code gcloud auth application-default login}, else the service account of the
   * machine, asked for the scope {@code cloud-platform}.
   *
   * <p>Google's own library looks for them, at the first call that needs a token. It is an optional
   * dependency of this module: add {@code com.google.auth:google-auth-library-oauth2-http}.
   *
   * @return a source of tokens; a refusal of Google's is a failure of kind HTTP_STATUS
   * @throws dev.warpwright.model.InvalidRequestException if the library is missing
   */
  public static TokenSource applicationDefault() {
    try {
      Class.forName(LIBRARY, false, GoogleTokens.class.getClassLoader());
    } catch (ClassNotFoundException _) {
      throw Refusal.configuration(
          "Application Default Credentials need Google's auth library: add the dependency"
              + " com.google.auth:google-auth-library-oauth2-http, or set where tokens come from"
              + " with tokens(…).");
    }
    return new ApplicationDefault();
  }
}
