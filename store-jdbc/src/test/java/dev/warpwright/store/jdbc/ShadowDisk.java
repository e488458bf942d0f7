package dev.warpwright.store.jdbc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.h2.store.fs.FileBaseDefault;
import org.h2.store.fs.FilePath;
import org.h2.store.fs.FilePathWrapper;
import org.h2.store.fs.async.FilePathAsync;

/**
 * H2's file system {@code async:}, with a {@link WriteCache} under the files that a test names. H2
 * makes its instances itself, so the class is public.
 */
public final class ShadowDisk extends FilePathWrapper {
  private static final Map<String, WriteCache> CACHES = new ConcurrentHashMap<>();

  /** Stands in for H2's own until {@link #uninstall}. */
  static void install() {
    FilePath.register(new ShadowDisk());
  }

  static void uninstall() {
    FilePath.register(new FilePathAsync());
    CACHES.clear();
  }

  /** Puts a cache under a file that is not open. */
  static void put(Path file, WriteCache cache) {
    CACHES.put(file.toString(), cache);
  }

  static void remove(Path file) {
    CACHES.remove(file.toString());
  }

  @Override
  public String getScheme() {
    return "async";
  }

  @Override
  public FileChannel open(String mode) throws IOException {
    FileChannel real = super.open(mode);
    WriteCache cache = CACHES.get(getBase().toString());
    return cache == null || mode.equals("r") ? real : new Channel(real, cache);
  }

  /** Of a file with a cache; the file itself holds what a process sees, and is not forced. */
  private static final class Channel extends FileBaseDefault {
    private final FileChannel real;
    private final WriteCache cache;

    Channel(FileChannel real, WriteCache cache) {
      this.real = real;
      this.cache = cache;
    }

    @Override
    public long size() throws IOException {
      return real.size();
    }

    @Override
    public synchronized int read(ByteBuffer target, long position) throws IOException {
      return real.read(target, position);
    }

    @Override
    public synchronized int write(ByteBuffer source, long position) throws IOException {
      synchronized (cache) {
        cache.write(source.duplicate(), position);
        int written = 0;
        while (source.hasRemaining()) {
          written += real.write(source, position + written);
        }
        return written;
      }
    }

    @Override
    protected void implTruncate(long size) throws IOException {
      synchronized (cache) {
        cache.truncate(size);
        real.truncate(size);
      }
    }

    @Override
    public void force(boolean metaData) {
      cache.force();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
      return real.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
      real.close();
    }
  }
}
