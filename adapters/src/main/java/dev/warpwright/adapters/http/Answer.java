package dev.warpwright.adapters.http;

import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/** An answer of status 200 that arrived whole. */
public final class Answer {
  private final JsonNode json;
  private final byte[] bytes;
  private final HttpHeaders headers;

  /**
   * Keeps the three as they are.
   *
   * @param json the body
   * @param bytes the same body as it came; nobody changes it
   * @param headers the response's headers
   */
  public Answer(JsonNode json, byte[] bytes, HttpHeaders headers) {
    this.json = json;
    this.bytes = bytes;
    this.headers = headers;
  }

  /**
   * The body, read leniently: of two equal keys the last one won.
   *
   * @return the tree
   */
  public JsonNode json() {
    return json;
  }

  /**
   * The body as it came.
   *
   * @return the bytes themselves, not a copy
   */
  public byte[] bytes() {
    return bytes;
  }

  /**
   * The response's headers.
   *
   * @return the headers
   */
  public HttpHeaders headers() {
    return headers;
  }
}
