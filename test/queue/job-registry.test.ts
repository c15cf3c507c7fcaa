// Memory of the job registry after its jobs have settled.
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createJob, JobRegistry } from '../../src/queue/jobs.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Adds a job, removes it, and returns a weak reference to the function that holds the body of its request. */
function settle(registry: JobRegistry, index: number): WeakRef<object> {
  const attempt = () => Promise.reject(new Error('never called'));
  const request = { name: 'send', class: 'write', priority: 'ingestion', repeat: 'never', attempt } as const;
  const job = createJob(request, index, 0, 1000 + index);
  registry.add(job);
  registry.remove(job);
  return new WeakRef(attempt);
}

test('keeps no settled job until its deadline', async () => {
  const registry = new JobRegistry();
  const settled = Array.from({ length: 40 }, (_, index) => settle(registry, index));
  // A weak reference keeps its target until the end of the turn.
  await turn();
  collectGarbage();
  expect(settled.filter((attempt) => attempt.deref() !== undefined)).toEqual([]);
  expect(registry.takeExpired(5000)).toEqual([]);
});
