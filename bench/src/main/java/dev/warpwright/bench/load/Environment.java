package dev.warpwright.bench.load;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Where figures were measured. */
public final class Environment {
  private Environment() {}

  /**
   * What this process knows of it.
   *
   * @return time, Java, system and processors, to be added to
   */
  public static Map<String, String> here() {
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    environment.put(
        "java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    environment.put(
        "system",
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch"));
    environment.put("processors", String.valueOf(Runtime.getRuntime().availableProcessors()));
    return environment;
  }
}
