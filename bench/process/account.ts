/** Loaded before a measured program: when it exits, writes what the operating system accounts to it to descriptor 3. */
import { readFileSync, writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

let modules = 0;

if (isMainThread) {
  if (process.env.BENCH_COUNT_MODULES === '1') {
    registerHooks({
      load(url, context, next) {
        modules += url.startsWith('file:') ? 1 : 0;
        return next(url, context);
      },
    });
  }
  process.once('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    // maxRSS starts at what the parent had used when it started this process; VmHWM does not.
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? maxRSS);
    writeSync(3, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, peak: peak / 1024, modules }));
  });
}
