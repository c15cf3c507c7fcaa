import { expect, test } from 'vitest';
import { errorFromJson, errorToJson } from '../../src/core/error-json.ts';
import {
  AuthError,
  CancelledError,
  ConfigError,
  DependencyNotReadyError,
  DesiredStateError,
  InterruptedError,
  NotThePlatformError,
  RateLimitedError,
  RefusedPlanError,
  RejectedError,
  SourceError,
  StoreError,
  TransientError,
} from '../../src/core/errors.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { TimeoutError } from '../../src/queue/request.ts';

const PROBLEM = { file: 'a.yaml', line: 2, column: 3, address: 'team/a', message: 'is missing' };

function sent(error: unknown): Error {
  return errorFromJson(JSON.parse(JSON.stringify(errorToJson(error))) as JsonObject);
}

test.each([
  new DesiredStateError([PROBLEM]),
  new DesiredStateError([]),
  new ConfigError('not configured'),
  new RefusedPlanError('no such plan'),
  new AuthError('the token is refused', 401),
  new RejectedError('muted', 409),
  new RateLimitedError('later', 1500),
  new RateLimitedError('later', null),
  new DependencyNotReadyError('not yet'),
  new TransientError('reset', true),
  new TransientError('refused', false),
  new NotThePlatformError('HTML'),
  new CancelledError('stopped'),
  new InterruptedError('SIGTERM'),
  new SourceError('cannot fetch'),
  new StoreError('locked'),
])('$name keeps its class and its members as JSON', (error) => {
  const found = sent(error);
  expect(found).toBeInstanceOf(error.constructor);
  expect({ ...found, message: found.message }).toEqual({ ...error, message: error.message });
});

test('an error of a class that extends another one becomes one of that class', () => {
  const found = sent(new TimeoutError('no answer', true));
  expect(found).toBeInstanceOf(TransientError);
  expect(found).toMatchObject({ message: 'no answer', maybeDone: true });
});

test('other errors keep only their message, and unknown codes are accepted', () => {
  expect(sent(new TypeError('x is undefined'))).toMatchObject({ message: 'x is undefined' });
  expect(sent('text').message).toBe('text');
  expect(errorFromJson({ code: 'of-a-newer-version', message: 'new' }).message).toBe('new');
  expect(errorFromJson({ code: 'toString', message: 'x' }).message).toBe('x');
});

test.each([undefined, null, 7, 'x', {}, [null, 7, {}, { ...PROBLEM, line: 'x' }]])(
  'problems of another form are ignored: %j',
  (problems) => {
    const error = errorFromJson({ code: 'invalid-manifests', message: 'two problems', problems: problems as never });
    expect(error).toBeInstanceOf(DesiredStateError);
    expect(error).toMatchObject({ message: 'two problems', problems: [] });
  },
);
