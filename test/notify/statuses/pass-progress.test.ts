import { describe, expect, test } from 'vitest';
import type { Change, ChangeResult, Plan } from '../../../src/core/change.ts';
import { AuthError, DesiredStateError, TransientError } from '../../../src/core/errors.ts';
import { type CommitPass, dueChanges, passProgress } from '../../../src/notify/status-progress.ts';

const change = (name: string, over: Partial<Change> = {}) =>
  ({ action: 'update', address: `team/${name}`, held: null, approvable: false, paused: null, ...over }) as Change;
const result = (name: string, status: ChangeResult['status'], error: string | null = null): ChangeResult => ({
  ...{ address: `team/${name}` as ChangeResult['address'], action: 'update', status, id: null, error },
});
const plan = (changes: readonly Change[], over: Partial<Plan> = {}) =>
  ({
    ...{ changes, checksum: 'sha256:0123456789abcdef', heldChecksum: 'sha256:fedcba983210' },
    ...{ verdict: { state: 'ready', reasons: [] }, pending: [] },
    ...over,
  }) as Plan;
const pass = (over: Partial<CommitPass>): CommitPass => ({
  ...{ plan: null, drift: new Set(), results: [], error: null, wait: null, isStopped: false },
  ...over,
});
const [a, b, c] = [change('a'), change('b'), change('c')];
const shown = (over: Partial<CommitPass>, before = 0) => {
  const found = passProgress(pass(over), before);
  return found === null ? null : `${found.progress.state}: ${found.progress.description} [${found.applied}]`;
};

test('changes that are held or paused are not due', () => {
  const held = change('b', { held: 'needs approval' });
  const paused = change('c', { paused: { reason: 'migration', until: null } });
  const both = change('d', { held: 'needs approval', paused: { reason: 'migration', until: null } });
  expect(dueChanges([a, held, paused, both])).toEqual([a]);
});

describe('a pass that ends', () => {
  test('with everything applied is a success, counted over all passes', () => {
    const results = [result('a', 'applied'), result('b', 'applied')];
    expect(shown({ plan: plan([a, b]), results })).toBe('success: 2 changes applied [2]');
    expect(shown({ plan: plan([a]), results: [result('a', 'applied')] }, 2)).toBe('success: 3 changes applied [3]');
    expect(shown({ plan: plan([]) }, 3)).toBe('success: 3 changes applied [3]');
    expect(shown({ plan: plan([]) })).toBe('success: nothing to do [0]');
  });

  test('with resources that wait for something is not a success yet', () => {
    const waits = [{ address: 'site-space/help/fr', reason: 'waits for its translation' }];
    const waiting = { pending: waits as unknown as Plan['pending'] };
    const reason = '1 resource pending: site-space/help/fr: waits for its translation';
    expect(shown({ plan: plan([a], waiting), results: [result('a', 'applied')] })).toBe(
      `pending: 1 change applied; ${reason} [1]`,
    );
    expect(shown({ plan: plan([], waiting) })).toBe(`pending: ${reason} [0]`);
  });

  test('with drift only has nothing to do for the commit, whatever becomes of the drift', () => {
    const drift = new Set([a]);
    const wait = { reason: 'outside every allow window', until: null };
    expect(shown({ plan: plan([a]), drift, results: [result('a', 'failed', 'no')] })).toBe(
      'success: nothing to do [0]',
    );
    expect(shown({ plan: plan([a]), drift, wait })).toBe('success: nothing to do [0]');
  });

  test('with failures names the first one, and the same way at every retry', () => {
    const results = [result('a', 'applied'), result('b', 'failed', 'refused (403)'), result('c', 'skipped')];
    const first = 'failure: 1 of 3 changes failed: team/b: refused (403)';
    expect(shown({ plan: plan([a, b, c]), results })).toBe(`${first} [1]`);
    expect(shown({ plan: plan([b, c]), results: results.slice(1) }, 1)).toBe(`${first} [1]`);
  });

  test('before a window opens names the time', () => {
    const wait = { reason: 'outside every allow window', until: Date.UTC(2026, 10, 23, 17, 59, 1) };
    expect(shown({ plan: plan([a, b]), wait })).toBe(
      'pending: 2 changes planned; waits: outside every allow window, until 2026-11-23 18:00 UTC [0]',
    );
    const results = [result('a', 'applied'), result('b', 'skipped')];
    expect(shown({ plan: plan([a, b]), wait, results })).toMatch(
      /^pending: 1 applied, 1 change planned; waits: outside/,
    );
  });

  test('with held and paused changes says what waits for what', () => {
    const held = change('b', { held: 'deleting teams needs approval', approvable: true });
    const paused = change('c', { paused: { reason: 'migration', until: null } });
    const results = [result('a', 'applied')];
    expect(shown({ plan: plan([a, held]), results })).toBe(
      'pending: 1 applied, 1 change planned; waits for approval of fedcba98 [1]',
    );
    expect(shown({ plan: plan([a, paused]), results })).toBe(
      'pending: 1 applied, 1 change planned; paused: migration [1]',
    );
    expect(shown({ plan: plan([a, held, paused]), results })).toBe(
      'pending: 1 applied, 2 changes planned; 1 waits for approval of fedcba98; 1 paused: migration [1]',
    );
  });

  test('with a plan that is held or refused as a whole says so', () => {
    const verdict = (state: 'held' | 'refused') => ({ state, reasons: ['7 deletions are more than the limit of 5'] });
    expect(shown({ plan: plan([a], { verdict: verdict('held') }) })).toBe(
      'pending: 1 change planned; waits for approval of 01234567: 7 deletions are more than the limit of 5 [0]',
    );
    expect(shown({ plan: plan([a], { verdict: verdict('refused') }) })).toMatch(
      /^error: the plan is refused: 7 deletions/,
    );
  });

  test('before it planned names the file and line, or waits for what may work later', () => {
    const problem = { file: 'teams.yaml', line: 12, column: 3, address: 'team/docs', message: 'unknown field' };
    expect(shown({ error: new DesiredStateError([problem, problem, problem]) })).toBe(
      'error: teams.yaml:12:3: team/docs: unknown field (and 2 more problems) [0]',
    );
    expect(shown({ error: new AuthError('the token is refused (401)', 401) })).toBe(
      'error: the pass failed: the token is refused (401) [0]',
    );
    const [one, two] = ['502 after 3.1 s', '502 after 2.9 s'].map((text) =>
      shown({ error: new TransientError(text, true) }),
    );
    expect(one).toMatch(/^pending: waits for the platform/);
    expect(one).toBe(two);
  });

  test('because the daemon stops leaves the status as it is', () => {
    const results = [result('a', 'applied'), result('b', 'skipped')];
    expect(shown({ plan: plan([a, b]), results, isStopped: true })).toBeNull();
    expect(shown({ isStopped: true })).toBeNull();
  });
});
