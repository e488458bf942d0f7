package dev.warpwright.control;

import dev.warpwright.contract.ResponseCacheContract;
import java.time.Duration;

/** The cache of one process keeps the contract. */
final class LocalResponseCacheContractTest extends ResponseCacheContract {
  @Override
  protected ResponseCache open() {
    return ResponseCache.inMemory(100, Duration.ofHours(1));
  }
}
