import { describe, expect, test } from 'vitest';
import type { SyncWindow } from '../../src/config/config.ts';
import { windowState } from '../../src/config/windows.ts';

const HOUR = 3_600_000;
const at = (text: string) => Date.parse(text);
const window = (effect: 'allow' | 'deny', cron: string, hours: number, timezone = 'UTC'): SyncWindow => ({
  effect,
  cron,
  duration: hours * HOUR,
  timezone,
});
const office = window('allow', '0 9 * * 1-5', 8);
const freeze = window('deny', '0 12 * * *', 1);

describe('windowState', () => {
  test.each([
    ['no windows', [], '2027-03-03T03:00:00Z', true, null],
    ['before an allow window', [office], '2027-03-03T08:59:59.999Z', false, '2027-03-03T09:00:00Z'],
    ['at its first instant', [office], '2027-03-03T09:00:00Z', true, '2027-03-03T17:00:00Z'],
    ['at its last', [office], '2027-03-03T16:59:59.999Z', true, '2027-03-03T17:00:00Z'],
    ['at its end', [office], '2027-03-03T17:00:00Z', false, '2027-03-04T09:00:00Z'],
    ['at a weekend', [office], '2027-03-06T10:00:00Z', false, '2027-03-08T09:00:00Z'],
    ['outside a deny window', [freeze], '2027-03-03T11:00:00Z', true, '2027-03-03T12:00:00Z'],
    ['inside a deny window', [freeze], '2027-03-03T12:30:00Z', false, '2027-03-03T13:00:00Z'],
    ['deny wins over allow', [office, freeze], '2027-03-03T12:30:00Z', false, '2027-03-03T13:00:00Z'],
    ['allow ends at the next deny', [office, freeze], '2027-03-03T10:00:00Z', true, '2027-03-03T12:00:00Z'],
    ['an expression that never fires', [window('allow', '0 0 30 2 *', 1)], '2027-03-03T10:00:00Z', false, null],
    [
      'a window across midnight',
      [window('allow', '0 23 * * *', 3)],
      '2027-03-04T01:30:00Z',
      true,
      '2027-03-04T02:00:00Z',
    ],
    [
      'summer time',
      [window('allow', '0 9 * * *', 1, 'Europe/Berlin')],
      '2027-07-01T07:30:00Z',
      true,
      '2027-07-01T08:00:00Z',
    ],
    [
      'winter time',
      [window('allow', '0 9 * * *', 1, 'Europe/Berlin')],
      '2027-01-04T07:30:00Z',
      false,
      '2027-01-04T08:00:00Z',
    ],
  ])('finds the state and its end: %s', (_name, windows, now, open, until) => {
    const state = windowState(windows, at(now));
    expect(state.open).toBe(open);
    expect(state.until).toBe(until === null ? null : at(until));
    expect(state.reason).not.toBe('');
  });
});
