package dev.warpwright.examples;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Standard output, which keeps its first failure: {@code System.out} hides it. A reader that has
 * gone, such as {@code head}, is no failure.
 */
final class StandardOutput extends OutputStream {
  private final OutputStream out = new FileOutputStream(FileDescriptor.out);
  private volatile @Nullable IOException failure;

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      if (failure == null) {
        failure = e;
      }
      throw e;
    }
  }

  /** Why something was not written that somebody waits for. */
  Optional<IOException> failure() {
    return Optional.ofNullable(failure).filter(first -> !isBrokenPipe(first));
  }

  private static boolean isBrokenPipe(IOException failure) {
    return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("pipe");
  }
}
