import com.google.googlejavaformat.java.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs google-java-format over every Java file below a folder; the build starts it from source. A
 * program rather than a shell line, so that the list of files is found on any platform and has no
 * limit in length.
 *
 * <p>Arguments: {@code check} or {@code rewrite}, then the folder. Exits with a status other than
 * zero if {@code check} finds a file that {@code rewrite} would change.
 */
void main(String[] args) throws Exception {
  boolean check =
      switch (args[0]) {
        case "check" -> true;
        case "rewrite" -> false;
        default -> throw new IllegalArgumentException("check or rewrite, not " + args[0]);
      };
  List<String> command = new ArrayList<>();
  command.addAll(check ? List.of("--dry-run", "--set-exit-if-changed") : List.of("--replace"));
  for (Path file : javaFiles(Path.of(args[1]))) {
    command.add(file.toString());
  }
  PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
  PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
  int status = new Main(out, err, System.in).format(command.toArray(String[]::new));
  if (check && status != 0) {
    err.println("Files above are not formatted; `mvn -N -Pformat validate` rewrites them.");
  }
  System.exit(status);
}

private static List<Path> javaFiles(Path root) throws IOException {
  List<Path> files = new ArrayList<>();
  Files.walkFileTree(
      root,
      new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
          String name = folder.getFileName().toString();
          boolean ours = folder.equals(root) || !(name.equals("target") || name.startsWith("."));
          return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
          if (file.toString().endsWith(".java")) {
            files.add(file);
          }
          return FileVisitResult.CONTINUE;
        }
      });
  files.sort(null);
  return files;
}
