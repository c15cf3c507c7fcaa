import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);

interface Override {
  readonly includes: readonly [string];
  readonly linter: {
    readonly rules: {
      readonly style: {
        readonly noRestrictedImports: {
          readonly options: { readonly patterns: readonly [{ group: readonly string[] }] };
        };
      };
    };
  };
}

const entries = readdirSync(at('src'), { withFileTypes: true });
const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);

const { overrides } = JSON.parse(readFileSync(at('biome.layers.json'), 'utf8')) as { overrides: readonly Override[] };
const forbidden = new Map(
  overrides.map(({ includes, linter }) => [
    /^src\/([^/]+)\/\*\*$/.exec(includes[0])?.[1] ?? includes[0],
    linter.rules.style.noRestrictedImports.options.patterns[0].group.map((pattern) =>
      pattern.replace(/^\*\*\//, '').replace(/\/\*\*$/, ''),
    ),
  ]),
);

/** What a folder may import: everything that the linter does not forbid it. */
function allowed(folder: string): readonly string[] {
  const not = forbidden.get(folder) ?? [];
  return [...folders, ...files].filter((name) => name !== folder && !not.includes(name));
}

// The linter checks the imports against these rules; here the rules are checked against the folders.
describe('biome.layers.json', () => {
  test.each(folders)('says what src/%s may import; a new folder needs a rule', (folder) => {
    expect([...forbidden.keys()]).toContain(folder);
  });

  test('goes one way: no folder may import what may import it', () => {
    const reach = (from: string, seen: Set<string>): Set<string> => {
      for (const next of allowed(from)) {
        if (folders.includes(next) && !seen.has(next)) {
          reach(next, seen.add(next));
        }
      }
      return seen;
    };
    const circular = folders.filter((folder) => reach(folder, new Set()).has(folder));
    expect(circular).toEqual([]);
  });

  test('core imports nothing, and nothing imports the command line', () => {
    expect(allowed('core')).toEqual([]);
    expect(folders.filter((folder) => allowed(folder).includes('cli.ts'))).toEqual([]);
  });

  test('the embedded platform and the client share only core', () => {
    expect(allowed('emulator')).toEqual(['core']);
    expect(allowed('platform')).not.toContain('emulator');
  });
});
