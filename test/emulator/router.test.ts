import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { Router } from '../../src/emulator/http/router.ts';
import type { ApiOperation } from '../../src/emulator/model/operation.ts';

/* Matching of requests to operations. */

const router = new Router(OPERATIONS);

const find = (method: string, path: string) => {
  const match = router.find(method, path);
  return match === undefined ? undefined : [match.operation.name, match.params];
};

test.each([
  ['an encoded id', '/v1/spaces/a%20b', 'a b'],
  ['an encoded slash in an id', '/v1/spaces/a%2Fb', 'a/b'],
  ['an encoded percent sign once', '/v1/spaces/%2525', '%25'],
  ['an id that cannot be decoded, as it is', '/v1/spaces/%zz', '%zz'],
  ['an id with characters that often end paths', '/v1/spaces/a;b#c', 'a;b#c'],
  ['an id that looks like a parameter', '/v1/spaces/:spaceId', ':spaceId'],
  ['a very long id', `/v1/spaces/${'x'.repeat(10_000)}`, 'x'.repeat(10_000)],
])('decodes %s', (_, path, spaceId) => {
  expect(find('GET', path)).toEqual(['getSpace', { spaceId }]);
});

test.each([
  ['another method', 'PUT', '/v1/spaces/a'],
  ['HEAD', 'HEAD', '/v1/spaces/a'],
  ['a method that is a member of every object', 'constructor', '/v1/spaces/a'],
  ['an unknown path', 'GET', '/v1/none'],
  ['a longer path', 'GET', '/v1/spaces/a/b'],
  ['a trailing slash', 'GET', '/v1/spaces/a/'],
  ['an empty id', 'GET', '/v1/spaces/'],
  ['an empty id in the middle', 'GET', '/v1/spaces//search'],
  ['two slashes', 'GET', '/v1//spaces/a'],
  ['upper case', 'GET', '/v1/Spaces/a'],
  ['an encoded fixed segment', 'GET', '/v1/%73paces/a'],
  ['another version', 'GET', '/v2/spaces/a'],
  ['the version alone', 'GET', '/v1'],
  ['no version', 'GET', '/spaces/a'],
  ['an address instead of a path', 'GET', 'http://host/v1/spaces/a'],
  ['no path', 'GET', ''],
])('does not match %s', (_, method, path) => {
  expect(find(method, path)).toBeUndefined();
});

test('refuses two operations with the same method and path', () => {
  const [operation] = OPERATIONS;
  expect(() => new Router([operation, operation] as ApiOperation[])).toThrow();
});
