import { describe, expect, test } from 'vitest';
import { prepare } from '../../src/commands/api/request.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { openDocument, VERSIONS } from './document.ts';

const table = allOperations();

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
  });
});

function fits(template: string, path: string): boolean {
  const given = path.split('/');
  return template.split('/').every((part, index) => part.startsWith('{') || part === given[index]);
}
