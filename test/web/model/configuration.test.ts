import { expect, test } from 'vitest';
import { configurationDetail, configurationHead, configurationViews } from '../../../src/web/model/configuration.ts';
import { NOW } from '../some-backend.ts';

const all = () => ({ seesAll: true });
const problem = (replica: string | null, reason: string, since = NOW) => ({
  replica,
  reason,
  since,
  usedSince: since - 60_000,
  isPartial: false,
});

test('replicas with the same problems are described together, with the earliest times', () => {
  const same = 'config.yaml:3:8: prune: no\nconfig.yaml:4:1: x: no';
  const views = configurationViews(
    [problem('host-2 7', same, NOW - 5000), problem('host-3 7', 'config.yaml:1:1: no'), problem('host-1 42', same)],
    all,
  );
  expect(views).toEqual([
    {
      ...{ replicas: ['host-1 42', 'host-2 7'], problem: 'config.yaml:3:8: prune: no', more: 1 },
      ...{ since: new Date(NOW - 5000).toISOString(), usedSince: new Date(NOW - 65_000).toISOString() },
      isPartial: false,
    },
    expect.objectContaining({ replicas: ['host-3 7'], problem: 'config.yaml:1:1: no', more: 0 }),
  ]);
  expect(views.map(configurationHead)).toEqual([
    'The new configuration of host-1 42 and 1 more replica cannot be used',
    'The new configuration of host-3 7 cannot be used',
  ]);
  expect(views.map(configurationDetail)).toEqual([
    'config.yaml:3:8: prune: no, and 1 more problem',
    'config.yaml:1:1: no',
  ]);
});

test('people who may not see every organization see that it is invalid, and not why', () => {
  const [view] = configurationViews([problem(null, 'organizations/secret.yaml:1:1: no')], () => ({ seesAll: false }));
  expect(view).toMatchObject({ replicas: [], problem: null });
  expect(JSON.stringify(view)).not.toContain('secret');
  expect(configurationViews([], () => expect.unreachable())).toEqual([]);
});
