import { describe, expect, test, vi } from 'vitest';
import { AttemptSignal, toAbortSignal } from '../../src/queue/request.ts';

const reason = new Error('enough');

describe('the signal of an attempt', () => {
  test('calls the listeners that were not removed, once and with the first reason', () => {
    const signal = new AttemptSignal();
    const [first, removed, last] = [0, 1, 2].map(() => ({ handleEvent: vi.fn() }));
    for (const listener of [first, removed, last]) {
      signal.addEventListener('abort', listener ?? expect.unreachable());
    }
    signal.removeEventListener('abort', removed ?? expect.unreachable());
    expect(signal.aborted).toBe(false);
    signal.abort(reason);
    signal.abort(new Error('late'));
    expect(signal).toMatchObject({ aborted: true, reason });
    expect([first, removed, last].map((listener) => listener?.handleEvent.mock.calls.length)).toEqual([1, 0, 1]);
  });

  test('aborts the AbortSignal that was made from it, before and after', () => {
    const signal = new AttemptSignal();
    const before = toAbortSignal(signal);
    expect(before.aborted).toBe(false);
    signal.abort(reason);
    expect(before.reason).toBe(reason);
    expect(toAbortSignal(signal).reason).toBe(reason);
  });

  test('is the same if it is an AbortSignal already', () => {
    const { signal } = new AbortController();
    expect(toAbortSignal(signal)).toBe(signal);
  });
});
