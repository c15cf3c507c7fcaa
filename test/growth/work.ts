/**
 * Counts the work of code with V8's block counters: how often each block of Octavo's source is executed. Unlike time,
 * the count is the same on every machine and under any load.
 */
import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

/** Executions by function, as `file:function`. */
export type Work = ReadonlyMap<string, number>;

export interface WorkCounter {
  /** Runs a function and counts its work. */
  count(work: () => unknown): Promise<Work>;
  stop(): void;
}

/**
 * Starts to count in files whose address contains `part`. Only modules that are imported afterwards are counted
 * exactly: V8 inserts its counters when it compiles the code.
 */
export async function startCounting(part = '/src/'): Promise<WorkCounter> {
  // V8 drops the counters with the code of functions that are unused for a while.
  setFlagsFromString('--no-flush-bytecode');
  // Optimized code does not count inlined functions.
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-maglev');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return {
    async count(work) {
      await session.post('Profiler.takePreciseCoverage');
      await work();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const counts = new Map<string, number>();
      for (const { url, functions } of result.filter((script) => script.url.includes(part))) {
        const file = url.slice(url.indexOf(part) + part.length).replace(/\?.*$/, '');
        for (const { functionName, ranges } of functions) {
          const name = `${file}:${functionName || 'anonymous'}`;
          counts.set(
            name,
            ranges.reduce((sum, { count }) => sum + count, counts.get(name) ?? 0),
          );
        }
      }
      return counts;
    },
    stop: () => session.disconnect(),
  };
}

/** Most work for twice as much, relative to the smaller one; comparing each with each takes four times. */
export const MOST = 2.4;
/** The same for a single function, among those with a relevant amount of work. */
const MOST_OF_ONE = 2.9;

/**
 * Measures work over `size` and over twice as much. Returns what grew more than linearly, the worst first:
 * `file:function: 10 to 100`.
 */
export async function grownMore(measure: (n: number) => Promise<Work>, size: number): Promise<string[]> {
  // Work that happens only once is not counted.
  await measure(10);
  const small = await measure(size);
  const large = await measure(2 * size);
  const total = (work: Work) => [...work.values()].reduce((sum, count) => sum + count, 0);
  const functions = [...large]
    .map(([name, count]) => ({ name, count, before: small.get(name) ?? 0 }))
    .filter(({ count, before }) => before > 0 && count >= 20 * size && count > MOST_OF_ONE * before)
    .sort((a, b) => b.count / b.before - a.count / a.before);
  const all = { name: 'all functions', count: total(large), before: total(small) };
  return [...functions, ...(all.count < MOST * all.before ? [] : [all])].map(
    ({ name, count, before }) => `${name}: ${before} to ${count}`,
  );
}
