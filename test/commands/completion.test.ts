/** Completion of command lines: what is suggested, and how it is read and inserted. Shells are in completion-shells. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../../scripts/docs.ts';
import { completeWords, readLine } from '../../src/commands/completion/complete.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { codePoint } from '../support/code-points.ts';
import { execFileSync } from '../support/programs.ts';

const BREAKS = ' \t\n"\'><=;|&(:';

describe('an unfinished command line', () => {
  test.each([
    ['no argument', 'octavo ', ['']],
    ['a partial word', 'octavo pl', ['pl']],
    ['spaces around words', '  octavo   api  ', ['api', '']],
    ['an open quote', "octavo api '/v1/{o", ['api', '/v1/{o']],
    ['an open double quote with an escape', 'octavo api "a\\"b', ['api', 'a"b']],
    ['a quote in the middle', "octavo -f visibility='un", ['-f', 'visibility=un']],
    ['a closed quote', "octavo api 'a b' c", ['api', 'a b', 'c']],
    ['an empty word', "octavo api '' c", ['api', '', 'c']],
    ['an escaped space', 'octavo api a\\ b', ['api', 'a b']],
    ['a variable, unexpanded', 'octavo api /v1/orgs/$ORG/te', ['api', '/v1/orgs/$ORG/te']],
    ['assignments before the command', 'A=1 B=2 octavo api', ['api']],
  ])('is split into words: %s', (_what, line, words) => {
    expect(readLine(line, 'bash', BREAKS).words).toEqual(words);
  });

  test.each([
    ['a plain word', 'octavo api getT', 'getTeam', 'getTeam'],
    ['a value after a separator of bash', 'octavo -f visibility=un', 'visibility=unlisted', 'unlisted'],
    ['a value after a colon', 'octavo api /v1/orgs/:org/te', '/v1/orgs/:org/teams', 'org/teams'],
    [
      'a value in an open quote, ignoring separators',
      "octavo -f 'visibility=un",
      'visibility=unlisted',
      'visibility=unlisted',
    ],
    ['a value after a quote inside a word', "octavo -f visibility='un", 'visibility=unlisted', 'unlisted'],
    ['a value after a variable, which stays unexpanded', 'octavo api $ORG/te', '$ORG/te ms', '$ORG/te\\ ms'],
    ['nothing for a value that single quotes cannot contain', "octavo api 'a", "a'b", null],
    ['a value that is escaped in double quotes', 'octavo api "a', 'a"$b', 'a\\"\\$b'],
  ])('inserts %s', (_what, line, value, inserted) => {
    expect(readLine(line, 'bash', BREAKS).insert(value)).toBe(inserted);
  });

  test('quotes any value so that bash reads it unchanged', () => {
    const printable = fc.string({ unit: fc.constantFrom(...'abc /:=$`"\'\\{}[]()*?!#~&;|<>-é'), maxLength: 12 });
    const cases = fc.sample(fc.tuple(printable, printable, fc.constantFrom('', "'", '"')), { numRuns: 300, seed: 7 });
    const lines = cases.flatMap(([typed, added, quote]) => {
      // Characters that can be typed unchanged between these quotes.
      const start = typed.replace(/[\s'"\\$`&|;<>()*?!#~{}[\]]/g, 'x');
      const line = readLine(`octavo ${quote}${start}`, 'bash');
      const inserted = line.insert(start + added);
      return inserted === null ? [] : [{ value: start + added, text: `${quote}${inserted}${quote}` }];
    });
    // Brackets are not escaped: bash takes them literally if no file has a matching name.
    const script = lines.map(({ text }) => `printf '%s\\0' ${text === '' ? "''" : text}`).join('\n');
    const output = execFileSync('bash', ['--norc', '-f', '-c', script], { encoding: 'utf8', cwd: '/' });
    expect(output.split('\0').slice(0, -1)).toEqual(lines.map(({ value }) => value));
    expect(lines.length).toBeGreaterThan(200);
  });

  test('parses any line without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.constantFrom('bash', 'zsh', 'fish'), (text, shell) => {
        const { words, insert } = readLine(`octavo ${text}`, shell, BREAKS);
        expect(words.length).toBeGreaterThan(0);
        insert(`${words.at(-1)}x`);
      }),
    );
  });
});

describe('completion', () => {
  const offered = (...line: readonly string[]) => completeWords(commandLine(), allOperations, line);
  const words = (...line: readonly string[]) => offered(...line).words.map(({ value }) => value);

  test.each([
    ['commands', ['val'], ['validate']],
    ['commands of a command', ['clusters', 'un'], ['unmute']],
    ['options', ['plan', '--det'], ['--detailed-exitcode']],
    ['choices of an option', ['plan', '--format', ''], ['text', 'markdown', 'json']],
    ['choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['methods', ['api', 'P'], ['POST', 'PUT', 'PATCH']],
    ['operations', ['api', 'getTeam'], ['getTeam']],
    ['paths of a method', ['api', 'PUT', '/v1/orgs/org_1/te'], ['/v1/orgs/org_1/teams', '/v1/orgs/org_1/teams/']],
    ['the path after an id', ['api', 'PATCH', '/v1/orgs/:org/teams/t1'], ['/v1/orgs/:org/teams/t1']],
    [
      'paths without the version',
      ['api', 'orgs/{organization}/openapi'],
      ['orgs/{organization}/openapi', 'orgs/{organization}/openapi/'],
    ],
    ['fields', ['api', 'createTeam', '-f', ''], ['title=', 'members[]=']],
    ['fields of a path', ['api', 'PATCH', '/orgs/o/members/m', '-F', ''], ['role=']],
    ['values of a field', ['api', 'updateSite', 's', '-f', 'visibility=un'], ['visibility=unlisted']],
    ['methods as an option', ['api', '-X', 'D'], ['DELETE']],
    ['nothing without a possible argument', ['api', 'GET', '/v1/orgs', ''], []],
    ['codes', ['notify', 'preview', 'change'], ['changes-failing', 'change-request-opened', 'change-request-merged']],
    ['codes after a channel', ['notify', 'test', 'team', 'plan'], ['plan-refused']],
    ['options after arguments', ['notify', 'test', 'team', '--'], ['--resolve', '--config', '--help']],
    ['no hidden command', ['comp'], ['completion']],
  ])('suggests %s', (_what, line, values) => {
    expect(words(...line)).toEqual(values);
  });

  test.each([
    [['plan', '']],
    [['apply', '--config', '']],
    [['plan', '--base', 'x', '']],
    [['conversations', 'push', 'a', '']],
  ])('%j: leaves file names to the shell', (line) => {
    expect(offered(...line)).toEqual({ words: [], includesFiles: true, isPartial: false });
  });

  test('adds no space after a partial path', () => {
    expect(offered('api', 'GET', '/v1/orgs/o/te').isPartial).toBe(true);
    expect(offered('api', 'GET', '/v1/orgs/o/sso').isPartial).toBe(false);
  });
});
