import { describe, expect, test } from 'vitest';
import { prepare } from '../../src/commands/api/request.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { openDocument, VERSIONS } from './document.ts';

const table = Object.values(operations);

/** Request that `octavo api METHOD PATH` sends without further configuration. */
function request(method: string, path: string) {
  const input = { words: [method, path], method: undefined, fields: [], headers: [], data: undefined, isRaw: false };
  return prepare(input, { table, organization: 'org1', baseUrl: 'https://api.example', read: async () => '' });
}

/** The path of an operation with an id for each parameter. */
function filled(path: string, id: string): string {
  return `/v1${path}`.replaceAll(/\{\w+\}/g, id);
}

async function refusal(method: string, path: string): Promise<string | null> {
  try {
    await request(method, path);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('octavo api', () => {
  test.each(VERSIONS)('accepts every operation of %s', async (version) => {
    const found = await Promise.all(
      openDocument(version).operations.map(async ({ method, path }) => {
        // An error in the body is reported with the name of the operation, which is then known.
        const message = await refusal(method, filled(path, 'x9Q2'));
        return message?.startsWith('no operation') ? `${method} ${path}: ${message}` : null;
      }),
    );
    expect(found.filter((one) => one !== null)).toEqual([]);
  });

  test('accepts an id that looks like a part of another path', async () => {
    const words = new Set(table.flatMap(({ path }) => path.split('/').filter((part) => /^[a-z]/.test(part))));
    const unknown = openDocument('0.202').operations.filter(
      ({ method, path }) => !table.some((known) => known.method === method && known.path === `/v1${path}`),
    );
    const found: string[] = [];
    for (const { method, path } of unknown) {
      for (const word of words) {
        const message = await refusal(method, filled(path, `${word}x`));
        if (message?.startsWith('no operation')) {
          found.push(message);
        }
      }
    }
    expect(found).toEqual([]);
  });

  test('refuses a misspelled path', async () => {
    const slips = table.flatMap(({ method, path }) => {
      const at = path.split('/').findLastIndex((part) => /^[a-z-]{5,}$/.test(part));
      const parts = path.split('/').map((part) => part.replace(/^\{\w+\}$/, 'x9Q2'));
      const wrong = parts
        .map((part, index) => (index === at ? `${part.slice(0, -2)}${part.slice(-1)}` : part))
        .join('/');
      const isOther = table.some((other) => other.path.split('/').length === parts.length && fits(other.path, wrong));
      return at < 0 || isOther ? [] : [{ method, wrong }];
    });
    const passed: string[] = [];
    for (const { method, wrong } of slips) {
      if ((await refusal(method, wrong)) === null) {
        passed.push(`${method} ${wrong}`);
      }
    }
    expect(slips.length).toBeGreaterThan(100);
    expect(passed).toEqual([]);
  });

  test('refuses a method that a path does not have in any version', async () => {
    expect(await refusal('POST', '/v1/orgs/o/teams')).toMatch(/^no operation POST .*this path supports/);
    expect(await refusal('POST', '/v1/orgs')).toBe(null);
    expect((await request('POST', '/v1/orgs')).notes).toEqual([
      'POST /v1/orgs is not a known operation; it is sent unchecked',
    ]);
  });
});

function fits(template: string, path: string): boolean {
  const given = path.split('/');
  return template.split('/').every((part, index) => part.startsWith('{') || part === given[index]);
}
