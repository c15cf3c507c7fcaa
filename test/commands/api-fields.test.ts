import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTarget } from '../../src/commands/api/request.ts';
import { operations } from '../../src/platform/operations/index.ts';

const TARGET = { table: Object.values(operations), method: undefined, baseUrl: 'https://api.example/base/' };

test('keeps every path below the base URL', () => {
  const part = fc.oneof(fc.string(), fc.constantFrom('.', '..', '%2e%2e', '%2E', 'v1', '', 'orgs', '//evil.example'));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), (parts) => {
      let path: string;
      try {
        ({ path } = readTarget(['GET', `/${parts.join('/')}`], TARGET));
      } catch {
        return;
      }
      const url = new URL(`https://api.example/base${path}`);
      expect(url.origin).toBe('https://api.example');
      expect(url.pathname).toMatch(/^\/base\/v\d+(\/|$)/);
    }),
  );
});
