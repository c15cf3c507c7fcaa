/** Checks the pipelines in `examples/pull-request`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { commandLinesIn, faultOf } from '../docs/command-lines.ts';
import { ROOT } from './pruned.ts';

const read = (path: string) => readFileSync(join(ROOT, 'examples', path), 'utf8');
const load = <T>(path: string) => parseYaml(read(path)) as T;

describe('examples/pull-request', () => {
  test.each([
    ['github.yaml', ['validate .', 'plan . --comment', 'apply . --record --yes']],
    ['gitlab.yaml', ['validate .', 'plan . --comment', 'apply . --record --yes']],
    ['gitea.yaml', ['validate .', 'plan . --comment', 'apply . --record --yes']],
    ['bitbucket.yaml', ['validate .', 'plan . --comment', 'apply . --record --yes']],
  ])('%s runs only existing commands', (name, expected) => {
    const path = `pull-request/${name}`;
    expect(parseAllDocuments(read(path)).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const scripts: string[] = [];
    JSON.stringify(load(path), (key, value) => {
      if ((key === 'run' || key === 'script' || key === 'before_script') && value !== undefined) {
        scripts.push([value].flat().join('\n'));
      }
      return value;
    });
    const lines = scripts.flatMap((script) => commandLinesIn(script.replaceAll(/"\$\([^)]*\)"/g, 'COMMIT')));
    expect(lines.map((line) => [line, faultOf(line)]).filter(([, fault]) => fault !== null)).toEqual([]);
    for (const start of expected) {
      expect(
        lines.some((line) => line.startsWith(start)),
        `${start} in ${lines.join('; ')}`,
      ).toBe(true);
    }
  });
});
