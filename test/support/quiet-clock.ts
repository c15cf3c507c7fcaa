/** Virtual clock for a whole daemon in this process: time advances when no request, process, file operation or thread is at work. */
import diagnostics from 'node:diagnostics_channel';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';

export interface QuietClock extends VirtualClock, Disposable {}

/** Kinds of active resources that end by themselves, as `process.getActiveResourcesInfo` names them. */
const WORK = /^(FSReq|ProcessWrap|TCPConnectWrap|GetAddrInfoReqWrap|WriteWrap|ShutdownWrap|PipeConnectWrap|CloseReq)/;
/** Turns of the event loop without work after which nothing is under way. */
const QUIET_TURNS = 3;
/** Milliseconds by which time advances while a promise is awaited. */
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
  // A thread with a question keeps the process alive. Those of the test runner do so all the time.
  const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const others = threads();
  const isWorking = () =>
    requests > 0 || threads() > others || process.getActiveResourcesInfo().some((name) => WORK.test(name));
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
    const settle = () => {
      hasSettled = true;
    };
    promise.then(settle, settle);
    while (!hasSettled) {
      await clock.advance(STEP);
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
