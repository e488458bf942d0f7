package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.warpwright.adapters.http.StreamExchange;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/**
 * A stream that was read from bytes.
 *
 * @param told what it told
 * @param outcome the answer, or what was thrown
 */
public record Played(List<ModelEvent> told, Object outcome) {
  private static final String STRANGE = "\"{}[]:,\\\n\r 0-e\u00ff\u00e4n";

  /** Reads the streams of one protocol. */
  public record Player(
      HttpHeaders headers,
      Function<StreamingModel.Events, StreamExchange.Opening<ModelResponse>> protocol) {

    /** Reads a stream that comes in these chunks. */
    public Played play(List<byte[]> chunks) {
      List<ModelEvent> told = new ArrayList<>();
      try {
        StreamExchange.Body<ModelResponse> stream = protocol.apply(told::add).open(headers);
        boolean more = true;
        for (byte[] chunk : chunks) {
          more = more && (chunk.length == 0 || stream.read(chunk, chunk.length));
        }
        return new Played(told, stream.end());
      } catch (RuntimeException | InterruptedException e) {
        return new Played(told, e);
      }
    }

    /** Reads a stream cut in every way; it must tell the same and end the same. */
    public Played play(String stream) {
      return play(stream.getBytes(StandardCharsets.UTF_8));
    }

    /** The same of a stream that is no text. */
    public Played play(byte[] bytes) {
      Played whole = play(List.of(bytes));
      for (List<byte[]> chunks : Chunks.ways(bytes, 3)) {
        whole.requireSame(play(chunks));
      }
      return whole;
    }

    /** Reads a sound stream in which bytes were changed at random. */
    public void playDamaged(String sound) {
      playDamaged(random -> damaged(sound.getBytes(StandardCharsets.UTF_8), random));
    }

    /** Reads streams that are damaged in ways of their own. */
    public void playDamaged(Function<Random, byte[]> damage) {
      Fuzz.play(
          random -> {
            byte[] bytes = damage.apply(random);
            Played played = play(Chunks.pieces(bytes, random, 1 + random.nextInt(200)));
            if (played.outcome instanceof ModelResponse response) {
              assertEquals(response.message().text(), StrictJson.cleanText(played.text()));
            } else {
              assertInstanceOf(ProviderException.class, played.outcome);
            }
            played.requireSame(play(List.of(bytes)));
          });
    }
  }

  private static byte[] damaged(byte[] sound, Random random) {
    StringBuilder bytes = new StringBuilder(new String(sound, StandardCharsets.ISO_8859_1));
    for (int i = random.nextInt(6); i >= 0; i--) {
      int at = random.nextInt(bytes.length());
      int end = Math.min(bytes.length(), at + 1 + random.nextInt(40));
      switch (random.nextInt(4)) {
        case 0 -> bytes.setCharAt(at, STRANGE.charAt(random.nextInt(STRANGE.length())));
        case 1 -> bytes.insert(at, STRANGE.charAt(random.nextInt(STRANGE.length())));
        case 2 -> bytes.delete(at, end);
        default -> bytes.insert(random.nextInt(bytes.length()), bytes.substring(at, end));
      }
    }
    return bytes.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private void requireSame(Played other) {
    assertEquals(output(), other.output());
    if (outcome instanceof ModelResponse) {
      assertEquals(outcome, other.outcome);
    } else {
      assertEquals(outcome.toString(), other.outcome.toString());
    }
  }

  public ModelResponse response() {
    if (outcome instanceof ModelResponse response) {
      return response;
    }
    throw new AssertionError("It failed.", (Throwable) outcome);
  }

  public ProviderException failure() {
    return assertInstanceOf(ProviderException.class, outcome);
  }

  public String text() {
    StringBuilder text = new StringBuilder();
    told.forEach(event -> text.append(event instanceof ModelEvent.Text(String piece) ? piece : ""));
    return text.toString();
  }

  /** Everything but signs of life, of which there are as many as the network has cut pieces. */
  public List<ModelEvent> output() {
    return told.stream().filter(event -> !event.equals(ModelEvent.ALIVE)).toList();
  }
}
