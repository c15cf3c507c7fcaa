import { expect, test } from 'vitest';
import type { RequestEntry } from '../../src/emulator/http/request-log.ts';
import { execFileSync } from '../support/programs.ts';
import { shiftClock } from '../support/shifted-clock.ts';
import { findEpochFaults, readStamp } from './stamps.ts';

function request(n: number, agent: string, organization = 'a', method = 'POST'): RequestEntry {
  return {
    n,
    method,
    operation: 'createTeam',
    path: `/v1/orgs/${organization}/teams`,
    status: 200,
    user: null,
    agent,
    at: 0,
  };
}

const ownerOf = ({ path }: RequestEntry) => path.split('/')[3] ?? null;
const agent = (replica: string, epoch: number) => `octavo/1.0.0 (replica ${replica}; epoch ${epoch})`;

test('the stamp of a request has the replica and the epoch', () => {
  expect(readStamp({ agent: agent('r-1', 42) })).toEqual({ replica: 'r-1', epoch: 42 });
  expect(readStamp({ agent: 'octavo/1.0.0' })).toBe(null);
});

test('epochs that grow in each organization have no faults', () => {
  const entries = [
    request(1, agent('x', 5)),
    request(2, agent('y', 1), 'b'),
    request(3, agent('y', 6)),
    request(4, agent('x', 5), 'a', 'GET'),
    request(5, agent('y', 6)),
  ];
  expect(findEpochFaults(entries, ownerOf)).toEqual([]);
});

test('an epoch that goes back, one that two replicas share and a request without a stamp are faults', () => {
  const entries = [
    request(1, agent('x', 5)),
    request(2, agent('y', 4)),
    request(3, agent('y', 5)),
    request(4, 'octavo/1'),
    request(5, agent('x', 6)),
  ];
  expect(findEpochFaults(entries, ownerOf)).toEqual([
    'request 2 (createTeam) of a has epoch 4 after 5',
    'request 3 (createTeam) of a has epoch 5 of y, and x had it',
    'request 4 (createTeam) of a has no stamp: octavo/1',
  ]);
});

test('a process can have a wall clock that is wrong by an hour, and a given date stays', () => {
  const script = 'JSON.stringify([Date.now(), new Date().getTime(), new Date(5).getTime()])';
  const env = { ...process.env, ...shiftClock(-3_600_000) };
  const [now, created, given] = JSON.parse(execFileSync(process.execPath, ['-p', script], { env, encoding: 'utf8' }));
  const wrong = Date.now() - 3_600_000;
  expect(Math.abs(now - wrong)).toBeLessThan(60_000);
  expect(Math.abs(created - wrong)).toBeLessThan(60_000);
  expect(given).toBe(5);
});
