package dev.warpwright.store.jdbc;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Crashes on H2 in a file. */
final class H2CrashTest extends CrashContract {
  @TempDir private Path folder;

  @Override
  String url() {
    return Databases.inFile(folder);
  }
}
