import { expect, test } from 'vitest';
import { PerOperationLimits } from '../../src/queue/limiter.ts';
import { NO_RATE_HEADERS } from '../../src/queue/request.ts';

/** Returns the number of responses after which separate limits are detected: `a 60 59` is operation, limit, remaining. */
function detectedAfter(answers: string): number | null {
  const detector = new PerOperationLimits();
  for (const [index, answer] of answers.split(', ').entries()) {
    const [operation = '', limit, remaining] = answer.split(' ');
    const headers = { ...NO_RATE_HEADERS, limit: Number(limit), remaining: Number(remaining), reset: 2_000_000_000 };
    if (detector.observe(operation, headers, index * 100, index * 100 + 50)) {
      return index + 1;
    }
  }
  return null;
}

test.each([
  ['two alternating limits', 'a 60 59, b 600 599, a 60 58, b 600 598, a 60 57', 5],
  [
    'a higher remaining count than another operation in between, three times',
    'a 60 20, b 60 50, a 60 19, b 60 49, a 60 18, b 60 48, a 60 17, b 60 47',
    8,
  ],
  [
    'a bucket that refills in between',
    'a 60 40, b 60 20, a 60 39, b 60 38, a 60 20, b 60 37, a 60 36, b 60 20, a 60 35',
    null,
  ],
  ['one budget', 'a 60 59, b 60 58, a 60 57, b 60 56, a 60 55', null],
  ['ignores a limit that changes for all operations', 'a 60 59, b 60 58, a 90 87, b 90 86, a 60 55, b 60 54', null],
  [
    'ignores nodes that disagree for every operation',
    'a 60 20, b 60 50, a 60 48, b 60 18, a 60 46, b 60 44, a 60 15',
    null,
  ],
])('%s', (_, answers, expected) => {
  expect(detectedAfter(answers)).toBe(expected);
});
