import { expect, test } from 'vitest';
import { changeEvents, notifyingBudget } from '../../src/daemon/change-events.ts';
import type { QueueEvent } from '../../src/queue/snapshot.ts';

test.each([
  ['passes', ['onPassStart', 'onPlan', 'onPassEnd']],
  ['conversations', ['onIntake', 'onPollEnd', 'onFilesEnd', 'onSent', 'onRefused', 'onSenderState', 'onPressure']],
  ['clusters', ['onOpened', 'onMerged', 'onArchived', 'onReopened', 'onMuted', 'onCommented', 'onRunEnd']],
] as const)('pages are told of these events of %s', (part, names) => {
  let calls = 0;
  const listeners = changeEvents(() => {
    calls += 1;
  })[part] as Readonly<Record<string, ((event?: object) => void) | undefined>>;
  for (const name of names) {
    listeners[name]?.({});
  }
  expect(calls).toBe(names.length);
});

const attempt = { kind: 'attempt', name: 'listTeams', class: 'read', priority: 'apply', waited: 0, took: 1 } as const;

test.each<[QueueEvent, boolean]>([
  [{ ...attempt, outcome: 'refused' }, true],
  [{ ...attempt, outcome: 'answered' }, false],
  [{ kind: 'breaker', state: 'open' }, true],
  [{ kind: 'joined', classes: ['read', 'write'] }, true],
])('%o is shown before the next sample: %s', (event, isTold) => {
  const heard: QueueEvent[] = [];
  let calls = 0;
  notifyingBudget(
    (each) => heard.push(each),
    () => {
      calls += 1;
    },
  )(event);
  expect(heard).toEqual([event]);
  expect(calls).toBe(isTold ? 1 : 0);
});
