import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FieldArgument, mergeFields, readFields, readTarget } from '../../src/commands/api/request.ts';
import { operations } from '../../src/platform/operations/index.ts';

const read = async (name: string) => {
  throw new Error(`${name} was read`);
};
const parse = async (typed: readonly FieldArgument[]) => mergeFields({}, await readFields(typed, read));

/** Any name without brackets and equals signs, which are syntax of keys. */
const key = fc.stringMatching(/^[^[\]=\s]{1,8}$/);
const text = fc.string().filter((value) => !value.startsWith('@'));
const scalar = fc.oneof(fc.boolean(), fc.constant(null), fc.integer(), text);
const body = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(scalar, { maxLength: 3 }), tie('object')),
  object: fc.dictionary(key, tie('value'), { minKeys: 1, maxKeys: 4 }),
})).object;

/** A value as it is typed: texts with `-f`, other types with `-F`. */
function typed(name: string, value: unknown): readonly FieldArgument[] {
  if (Array.isArray(value)) {
    return value.length === 0
      ? [{ text: `${name}[]`, isTyped: false }]
      : value.flatMap((item) => typed(`${name}[]`, item));
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([member, inner]) => typed(`${name}[${member}]`, inner))
    : [{ text: `${name}=${String(value)}`, isTyped: typeof value !== 'string' }];
}

describe('fields', () => {
  test('can express any JSON body', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const object = value as Record<string, unknown>;
        const all = Object.entries(object).flatMap(([name, member]) => typed(name, member));
        expect(JSON.stringify(await parse(all))).toBe(JSON.stringify(object));
      }),
    );
  });

  test('sends any text of -f unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (value) => {
        expect(await parse([{ text: `a=${value}`, isTyped: false }])).toEqual({ a: value });
      }),
    );
  });
});

describe('paths', () => {
  const reading = { table: Object.values(operations), method: undefined, baseUrl: 'https://api.example/base/' };

  test('keeps every path below the base URL', () => {
    const part = fc.oneof(fc.string(), fc.constantFrom('.', '..', '%2e%2e', '%2E', 'v1', '', 'orgs', '//evil.example'));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        let path: string;
        try {
          ({ path } = readTarget(['GET', `/${parts.join('/')}`], reading));
        } catch {
          return;
        }
        const url = new URL(`https://api.example/base${path}`);
        expect(url.origin).toBe('https://api.example');
        expect(url.pathname).toMatch(/^\/base\/v\d+(\/|$)/);
      }),
    );
  });

  test('encodes any id after an operation name as one path segment', () => {
    const id = fc.oneof(
      fc.string(),
      fc.constantFrom('', '.', '..', '%2e%2e', '../..', '?a=b', '#', '//', '{userId}', '$&'),
    );
    fc.assert(
      fc.property(id, (given) => {
        let path: string;
        try {
          ({ path } = readTarget(['deleteTeamMember', 'team_1', given], reading));
        } catch {
          return;
        }
        const parts = new URL(`https://api.example${path}`).pathname.split('/');
        expect(parts).toHaveLength(8);
        expect(decodeURIComponent(parts.at(-1) ?? '')).toBe(given);
      }),
    );
  });

  test.each(['', '.', '..'])('refuses "%s" as an id', (given) => {
    expect(() => readTarget(['deleteTeamMember', 'team_1', given], reading)).toThrow(`"${given}" is not an id`);
  });
});
