package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.json.StrictJson;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The items of a streamed answer as far as they were shown. They tell what an answer that broke off
 * may have done, and are the output of a server that does not repeat it at the end.
 *
 * <p>An item is known by its id, else by its place in the output. It is shown when it begins and
 * again when it is done, and counts once. Of a call that was not shown done, the fragments of its
 * arguments count. Not thread-safe.
 */
final class OutputItems {
  private static final int NO_PLACE = -1;

  private final List<Item> items = new ArrayList<>();
  private final Map<String, Item> byId = new HashMap<>();
  private final Map<Integer, Item> byPlace = new HashMap<>();
  private final StringBuilder withObjects = new StringBuilder();

  /** Takes an item that has begun. */
  void begun(StreamEvent event) {
    item(event.json().path("item").path("id"), event).shown = event.json().path("item");
  }

  /** Takes an item that is done. */
  void done(StreamEvent event) {
    JsonNode shown = event.json().path("item");
    Item item = item(shown.path("id"), event);
    item.shown = shown;
    item.done = true;
    if (shown.path("arguments").isContainer()) {
      withObjects.append(event.data()).append('\n');
    }
  }

  /** Takes the next piece of a call's arguments. */
  void arguments(StreamEvent event) {
    item(event.json().path("item_id"), event)
        .arguments
        .append(event.json().path("delta").asString(""));
  }

  /** The item that an event is about. */
  private Item item(JsonNode givenId, StreamEvent event) {
    String id = CallReader.text(givenId);
    int place = event.json().path("output_index").asInt(NO_PLACE);
    Item item = id == null ? null : byId.get(id);
    if (item == null) {
      Item there = byPlace.get(place);
      item = there == null || (id != null && there.id != null) ? open(place) : there;
    }
    if (id != null) {
      item.id = id;
      byId.put(id, item);
    }
    return item;
  }

  private Item open(int place) {
    Item item = new Item(place);
    items.add(item);
    byPlace.put(place, item);
    return item;
  }

  boolean isEmpty() {
    return items.isEmpty();
  }

  /** The items in their order. */
  ArrayNode output() {
    ArrayNode output = StrictJson.mapper().createArrayNode();
    items.stream()
        .sorted(Comparator.comparingInt(item -> item.place))
        .forEach(item -> output.add(item.whole()));
    return output;
  }

  /** The events of the items whose arguments came as JSON and not as text, as they came. */
  String withObjects() {
    return withObjects.toString();
  }

  private static final class Item {
    final int place;
    final StringBuilder arguments = new StringBuilder();
    @Nullable String id;
    JsonNode shown = StrictJson.mapper().createObjectNode().put("type", "function_call");
    boolean done;

    Item(int place) {
      this.place = place;
    }

    JsonNode whole() {
      return !done && shown instanceof ObjectNode begun && !arguments.isEmpty()
          ? begun.deepCopy().put("arguments", arguments.toString())
          : shown;
    }
  }
}
