package dev.warpwright.adapters.google;

import com.google.api.client.http.HttpResponseException;
import com.google.auth.oauth2.GoogleCredentials;
import dev.warpwright.adapters.AccessToken;
import dev.warpwright.adapters.TokenSource;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.time.Instant;
import java.util.Date;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Application Default Credentials; the only class that touches Google's library. */
final class ApplicationDefault implements TokenSource {
  private static final String SCOPE = "https://www.googleapis.com/auth/cloud-platform";

  private final Finder finder;
  private @Nullable GoogleCredentials found; // by one thread at a time, as the port says

  /** Looks for credentials. */
  @FunctionalInterface
  interface Finder {
    GoogleCredentials find() throws IOException;
  }

  ApplicationDefault() {
    this(GoogleCredentials::getApplicationDefault);
  }

  ApplicationDefault(Finder finder) {
    this.finder = finder;
  }

  @Override
  public AccessToken fetch() throws IOException, InterruptedException {
    try {
      GoogleCredentials credentials = found;
      if (credentials == null) {
        credentials = finder.find().createScoped(SCOPE);
        found = credentials;
      }
      credentials.refresh(); // whoever asks has no use for the token that it keeps
      com.google.auth.oauth2.AccessToken token = credentials.getAccessToken();
      if (token == null) {
        throw new IOException("Google's library fetched no token.");
      }
      Optional<Instant> expiry =
          Optional.ofNullable(token.getExpirationTime()).map(Date::toInstant);
      return new AccessToken(token.getTokenValue(), expiry);
    } catch (IOException e) {
      if (Thread.interrupted()) { // which closes the connection of a virtual thread
        throw new InterruptedException();
      }
      throw refusal(e).orElseThrow(() -> e);
    }
  }

  /** A refusal of the token server as what it is. */
  private static Optional<ProviderException> refusal(IOException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof HttpResponseException response) {
        return Optional.of(
            ProviderException.builder(
                    ProviderException.Kind.HTTP_STATUS,
                    "Google refused an access token with status " + response.getStatusCode() + ".")
                .status(response.getStatusCode())
                .build());
      }
    }
    return Optional.empty();
  }
}
