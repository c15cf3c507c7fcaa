/** Virtual clock for a whole daemon in this process: time advances when no request, process or file operation is under way. */
import diagnostics from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';

export interface QuietClock extends VirtualClock, Disposable {}

/** Kinds of active resources that end by themselves, as `process.getActiveResourcesInfo` names them. */
const WORK = /^(FSReq|ProcessWrap|TCPConnectWrap|GetAddrInfoReqWrap|WriteWrap|ShutdownWrap|PipeConnectWrap|CloseReq)/;
/** Turns of the event loop without work after which nothing is under way. */
const QUIET_TURNS = 3;
/** Real milliseconds that threads get before time advances by the milliseconds of a step, while a promise is awaited. */
const THREAD_TIME = 5;
const STEP = 500;

/** Creates the clock. HTTP requests count from their creation to the end of their response. */
export function createQuietClock(wallOffset?: number): QuietClock {
  let requests = 0;
  const begin = () => {
    requests += 1;
  };
  const end = () => {
    requests -= 1;
  };
  const channels = [
    ['undici:request:create', begin],
    ['undici:request:trailers', end],
    ['undici:request:error', end],
  ] as const;
  for (const [name, listener] of channels) {
    diagnostics.subscribe(name, listener);
  }
  const isWorking = () => requests > 0 || process.getActiveResourcesInfo().some((name) => WORK.test(name));
  const quiet = async () => {
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isWorking()) {
        turns = -1;
      }
    }
  };
  const clock = createVirtualClock(wallOffset, quiet);
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let hasSettled = false;
    const settled = promise.then(
      () => {
        hasSettled = true;
      },
      () => {
        hasSettled = true;
      },
    );
    while (!hasSettled) {
      // Threads do not count as work, so they get some real time.
      await Promise.race([settled, pause(THREAD_TIME)]);
      if (!hasSettled) {
        await clock.advance(STEP);
      }
    }
    return promise;
  };
  return {
    ...clock,
    // Whole, as that of the system is.
    now: () => Math.floor(clock.now()),
    run,
    [Symbol.dispose]: () => {
      for (const [name, listener] of channels) {
        diagnostics.unsubscribe(name, listener);
      }
    },
  };
}
