import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allOperations } from '../../src/platform/operations/table.ts';

/* Paths of the platform occur only in operations.json, except in the emulator, which has its own. */

const paths = allOperations().map(({ path }) => path);
/** First segments of paths after the version: `orgs`, `spaces`, … */
const beginnings = [...new Set(paths.map((path) => path.split('/')[2] ?? '').filter((name) => name !== ''))];
const written = new RegExp(`/(?:${beginnings.join('|')})(?=[/?'"\`]|$)|\\bv1/\\w`);

/** Requests of tests to the embedded platform, in the sample of a kind. */
const SAMPLE = /^drift: \['[A-Z]+', /;

/** Lines of a file that contain code. */
function codeOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .filter((line) => !/^(import|export) .* from '/.test(line) && !/^\} from '/.test(line));
}

function linesWithPaths(files: readonly string[]): string[] {
  return files.flatMap((file) =>
    codeOf(file)
      .filter((line) => written.test(line) && !SAMPLE.test(line.trim()))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

const sources = globSync('src/**/*.ts').filter((file) => !file.startsWith('src/emulator/'));

/** Help, an example in a message, and output of the demo. */
const withExamples = ['src/commands/program.ts', 'src/commands/api/request.ts', 'src/commands/daemon/demo.ts'];

describe('paths of the platform', () => {
  test('have few prefixes, by which this test finds them', () => {
    expect(beginnings.toSorted()).toEqual([
      ...['ads', 'collections', 'custom-hostnames', 'email-domains', 'git', 'integrations', 'org', 'orgs'],
      ...['spaces', 'subdomains', 'urls', 'user', 'users'],
    ]);
    expect(paths.filter((path) => path !== '/v1/' && !written.test(path))).toEqual([]);
  });

  test('are written only in the table of operations', () => {
    const others = sources.filter((file) => !withExamples.includes(file));
    expect(linesWithPaths(others)).toEqual([]);
  });

  test('appear in few messages, which send nothing', () => {
    expect(withExamples.filter((file) => linesWithPaths([file]).length === 0)).toEqual([]);
    expect(withExamples.filter((file) => /\b(request|send|open)\(/.test(codeOf(file).join('\n')))).toEqual([]);
  });

  test('are filled and sent only by the client and octavo api', () => {
    const senders = sources.filter((file) => /\btransport\.(send|open)\(/.test(readFileSync(file, 'utf8')));
    expect(senders.sort()).toEqual([
      'src/commands/api/response.ts',
      'src/commands/cli/session.ts',
      'src/platform/client.ts',
      'src/platform/http/transport.ts',
    ]);
  });
});
