package dev.warpwright.run;

/**
 * How a {@link Worker} stands at one moment. What it took up is running, or in one of the three
 * sums.
 *
 * @param running the runs that it drives now
 * @param taken how many it has taken up; the same run counts each time
 * @param ended how many of these ended or wait, failed ones included
 * @param handedBack how many it handed back unfinished when it stopped
 * @param failed how many it could not drive, or lost
 */
public record WorkerStatus(int running, long taken, long ended, long handedBack, long failed) {
  static final WorkerStatus NONE = new WorkerStatus(0, 0, 0, 0, 0);

  WorkerStatus plusTaken() {
    return new WorkerStatus(running + 1, taken + 1, ended, handedBack, failed);
  }

  WorkerStatus plusEnded() {
    return new WorkerStatus(running - 1, taken, ended + 1, handedBack, failed);
  }

  WorkerStatus plusHandedBack() {
    return new WorkerStatus(running - 1, taken, ended, handedBack + 1, failed);
  }

  WorkerStatus plusFailed() {
    return new WorkerStatus(running - 1, taken, ended, handedBack, failed + 1);
  }
}
