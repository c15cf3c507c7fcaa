/** Problems of manifests for people, for GitHub, as SARIF and as JUnit XML. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Problem } from '../../src/core/errors.ts';
import { PLAIN, textWidth } from '../../src/plan/render/text-layout.ts';
import { excerptOf } from '../../src/report/excerpt.ts';
import type { Report, Tool } from '../../src/report/report.ts';
import { toGitHub, toJUnit, toSarif } from '../../src/report/sarif.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';

const TOOL: Tool = { version: '1.2.3', rules: [{ id: 'team', description: 'Teams [must] be {0} valid.' }] };

const text = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: codePoint }),
  fc.array(fc.constantFrom(...HOSTILE_TEXTS, ' ', '\n'), { maxLength: 5 }).map((parts) => parts.join('')),
);
const count = fc.integer({ min: 1, max: 100_000 });
const problem: fc.Arbitrary<Problem> = fc.record({
  file: text.filter((file) => file !== ''),
  line: count,
  column: count,
  address: fc.oneof(
    fc.constant(''),
    text,
    text.map((key) => `team/${key}`),
  ),
  message: text,
});
const report: fc.Arbitrary<Report> = fc.record({
  files: fc.uniqueArray(text, { maxLength: 4 }),
  problems: fc.array(problem, { maxLength: 6 }),
  warnings: fc.array(problem, { maxLength: 2 }),
});

/** Characters that must not occur in any output, because they would affect the program that displays it. */
const ACTIVE = /^\s*::|[\p{Cs}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029\ufeff]|[^\P{Cc}\n]|##\w*\[/mu;

describe('GitHub', () => {
  /** Reads a workflow command as the runner does. */
  function command(line: string) {
    const [, name = '', properties = '', data = ''] = /^::([^ ]+) (.*?)::(.*)$/.exec(line) ?? [];
    const back = (value: string) => value.replaceAll('%0D', '\r').replaceAll('%0A', '\n');
    const pairs = properties.split(',').map((each) => {
      const [key = '', value = ''] = each.split('=', 2);
      return [key, back(value).replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%25', '%')] as const;
    });
    return { name, properties: Object.fromEntries(pairs), data: back(data).replaceAll('%25', '%') };
  }

  test('writes one line per problem with its position', () => {
    const problems = [{ file: 'a, b/c:d.yaml', line: 3, column: 5, address: 'team/a', message: '100 % wrong' }];
    expect(toGitHub({ files: [], problems, warnings: problems })).toBe(
      '::error file=a%2C b/c%3Ad.yaml,line=3,col=5,title=team/a::team/a: 100 %25 wrong\n' +
        '::warning file=a%2C b/c%3Ad.yaml,line=3,col=5,title=team/a::team/a: 100 %25 wrong\n',
    );
  });

  test('writes exactly one workflow command per problem, for any text', () => {
    fc.assert(
      fc.property(report, (input) => {
        const output = toGitHub(input);
        expect(output.replaceAll(/^::(error|warning) /gm, '')).not.toMatch(ACTIVE);
        const lines = output.split('\n').slice(0, -1);
        const all = [...input.problems, ...input.warnings];
        expect(lines).toHaveLength(all.length);
        for (const [index, line] of lines.entries()) {
          const { name, properties, data } = command(line);
          const { line: at, column } = all[index] as Problem;
          expect(name).toBe(index < input.problems.length ? 'error' : 'warning');
          expect(properties).toMatchObject({ line: String(at), col: String(column) });
          expect(Object.keys(properties).filter((key) => !['file', 'line', 'col', 'title'].includes(key))).toEqual([]);
          expect(data).not.toMatch(/[\r\n]/);
        }
      }),
    );
  });
});

describe('SARIF', () => {
  const location = z.strictObject({
    uri: z
      .string()
      .refine((uri) => URL.canParse(uri, 'file:///root/') && !/^[a-z][a-z0-9+.-]*:|^\/|[\s"<>\\^`{|}]/i.test(uri)),
    uriBaseId: z.literal('%SRCROOT%'),
  });
  const message = z.strictObject({
    // No link, no placeholder: each bracket is escaped, and no number is in single braces.
    text: z.string().refine((words) => !/(?<!\\)(?:\\\\)*[[\]]/.test(words) && !/(?<!\{)\{\d+\}(?!\})/.test(words)),
  });
  /** SARIF 2.1.0 as far as it is used: the required members of each object, and no other members. */
  const shape = z.strictObject({
    $schema: z.url(),
    version: z.literal('2.1.0'),
    runs: z.tuple([
      z.strictObject({
        tool: z.strictObject({
          driver: z.strictObject({
            name: z.string().min(1),
            semanticVersion: z.string().regex(/^\d+\.\d+\.\d+/),
            rules: z.array(
              z.strictObject({
                id: z.string().min(1),
                shortDescription: message,
                defaultConfiguration: z.strictObject({ level: z.enum(['none', 'note', 'warning', 'error']) }),
              }),
            ),
          }),
        }),
        columnKind: z.enum(['utf16CodeUnits', 'unicodeCodePoints']),
        originalUriBaseIds: z.record(z.string(), z.strictObject({ description: message })),
        artifacts: z.array(z.strictObject({ location })),
        results: z.array(
          z.strictObject({
            ruleId: z.string(),
            ruleIndex: z.int().min(0),
            level: z.enum(['error', 'warning']),
            message,
            locations: z.tuple([
              z.strictObject({
                physicalLocation: z.strictObject({
                  artifactLocation: location,
                  region: z.strictObject({ startLine: z.int().min(1), startColumn: z.int().min(1) }),
                }),
              }),
            ]),
          }),
        ),
      }),
    ]),
  });

  test('writes valid SARIF 2.1.0 with plain-text messages, for any text', () => {
    fc.assert(
      fc.property(report, (input) => {
        const output = toSarif(input, TOOL);
        expect(output).not.toMatch(ACTIVE);
        const [run] = shape.parse(JSON.parse(output)).runs;
        const all = [...input.problems, ...input.warnings];
        expect(run.results).toHaveLength(all.length);
        for (const [index, result] of run.results.entries()) {
          expect(result.level).toBe(index < input.problems.length ? 'error' : 'warning');
          const { file, address, line } = all[index] as Problem;
          const place = result.locations[0].physicalLocation;
          expect(place.region.startLine).toBe(line);
          expect(decodeURIComponent(place.artifactLocation.uri)).toBe(file.toWellFormed());
          expect(run.tool.driver.rules[result.ruleIndex]?.id).toBe(result.ruleId);
          expect(result.ruleId).toBe(address.startsWith('team/') ? 'team' : 'manifest');
        }
      }),
    );
  });

  test('lists a manifest without problems as an artifact only', () => {
    const [run] = shape.parse(JSON.parse(toSarif({ files: ['a b.yaml'], problems: [], warnings: [] }, TOOL))).runs;
    expect(run).toMatchObject({ artifacts: [{ location: { uri: 'a%20b.yaml' } }], results: [] });
  });
});

describe('JUnit', () => {
  /** Text of XML 1.0, in which everything that has a meaning is an entity. */
  const TEXT = String.raw`((?:[^<>&"'\p{Cs}\p{Cc}\ufffe\uffff]|\n|&(?:amp|lt|gt|quot|apos);)*)`;
  const FAILURE = `>\n<failure message="${TEXT}" type="${TEXT}">${TEXT}</failure>\n</testcase>`;
  const CASE = `<testcase name="${TEXT}" classname="manifests" file="${TEXT}" time="0"(?:/>|${FAILURE})\n`;
  const COUNTS = String.raw`tests="(\d+)" failures="(\d+)" errors="0" time="0"`;
  const SUITE = `<testsuite name="octavo validate" ${COUNTS} skipped="0"(?:/>|>\n(?:${CASE})*</testsuite>)`;
  const START = String.raw`<\?xml version="1\.0" encoding="UTF-8"\?>`;
  const DOCUMENT = new RegExp(`^${START}\n<testsuites name="octavo" ${COUNTS}>\n${SUITE}\n</testsuites>\n$`, 'u');

  /** Reads a report. Fails if it is anything but the expected elements with texts. */
  function read(xml: string) {
    expect(xml).toMatch(DOCUMENT);
    const [, tests, failures, ...ofSuite] = DOCUMENT.exec(xml) ?? [];
    expect(ofSuite.slice(0, 2)).toEqual([tests, failures]);
    const cases = [...xml.matchAll(new RegExp(CASE, 'gu'))].map(([, name, file, message, type, text]) => {
      expect(file).toBe(name);
      return [name, message, type, text] as const;
    });
    return { tests: Number(tests), failures: Number(failures), cases };
  }

  test('writes one test case per manifest, which fails with all of its problems', () => {
    const problems = [
      { file: 'a.yaml', line: 1, column: 2, address: 'team/a', message: 'is <wrong>' },
      { file: 'a.yaml', line: 3, column: 4, address: '', message: 'is wrong too' },
      { file: 'x.pem', line: 1, column: 1, address: '', message: 'is no text' },
    ];
    const text = 'a.yaml:1:2: team/a: is &lt;wrong&gt;\na.yaml:3:4: is wrong too';
    expect(read(toJUnit({ files: ['a.yaml', 'b.yaml'], problems, warnings: [] }, TOOL))).toEqual({
      ...{ tests: 3, failures: 2 },
      cases: [
        ['a.yaml', 'is &lt;wrong&gt; (and 1 more problem)', 'team', text],
        ['b.yaml', undefined, undefined, undefined],
        ['x.pem', 'is no text', 'manifest', 'x.pem:1:1: is no text'],
      ],
    });
  });

  test('writes valid XML with exactly the expected test cases, for any text', () => {
    fc.assert(
      fc.property(report, (input) => {
        const output = toJUnit(input, TOOL);
        expect(output).not.toMatch(ACTIVE);
        const { tests, failures, cases } = read(output);
        const failing = new Set(input.problems.map(({ file }) => file));
        const names = new Set([...input.files, ...failing]);
        expect([tests, failures]).toEqual([names.size, failing.size]);
        expect(cases).toHaveLength(names.size);
        expect(cases.filter(([, message]) => message !== undefined)).toHaveLength(failing.size);
      }),
    );
  });
});

describe('the line of a problem', () => {
  const SECRET = 'hunter2-of-ana';
  const draw = (line: string, column: number, columns = 80, clean = (text: string) => text) =>
    excerptOf({ line: 12, column }, line, { columns, paint: PLAIN, clean });
  /** Returns the text above the caret. */
  const pointedAt = (drawn: string) => {
    const [above = '', below = ''] = drawn.split('\n');
    return [...above].findIndex((_, at) => textWidth([...above].slice(0, at).join('')) === below.indexOf('^'));
  };

  test('has a caret below the column', () => {
    expect(draw('    titel: Docs', 5)).toBe('  12 |     titel: Docs\n     |     ^');
    expect(draw('a: b', 5)).toBe('  12 | a: b\n     |     ^');
    expect(draw('日本: x', 5)).toBe('  12 | 日本: x\n     |       ^');
  });

  test.each([
    [`token: ${SECRET}`, 1],
    [`  - { title: A, apiKey: "${SECRET}", nme: x }`, 40],
    [`"clientSecret" = ${SECRET}`, 3],
    [`link: https://ana:${SECRET}@x.example/`, 1],
    [`link: https://ana:${SECRET}@x.example/`, 24],
    [`title: \${env:NAME:-${SECRET}}`, 8],
    [`title: \${env:NAME:-${SECRET}`, 8],
    ['title: ghp_Zm9vYmFyYmF6cXV4Zm9vYmFy1234', 8],
    ['-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEA', 1],
    [`known: ${SECRET}`, 10],
  ])('never shows what may be secret: %j', (line, column) => {
    for (const columns of [20, 40, 80]) {
      const drawn = draw(line, column, columns, (text) => text.replaceAll(SECRET, '[secret]'));
      expect(drawn).not.toMatch(/hunter2|of-ana|ghp_|Zm9v|MIIE/);
      const unknown = line.startsWith('known') ? '' : draw(line, column, columns);
      expect(unknown).not.toMatch(/hunter2|of-ana|ghp_|Zm9v|MIIE/);
    }
  });

  test('is inert, one line, and as wide as the terminal at most', () => {
    const cases = fc.record({ line: text, column: count, columns: fc.integer({ min: 30, max: 120 }) });
    fc.assert(
      fc.property(cases, ({ line, column, columns }) => {
        const drawn = draw(line.replaceAll('\n', ' '), Math.min(column, line.length + 1), columns);
        expect(drawn).not.toMatch(ACTIVE);
        expect(drawn.split('\n')).toHaveLength(2);
        expect(Math.max(...drawn.split('\n').map(textWidth))).toBeLessThanOrEqual(columns);
      }),
    );
  });

  test('is cut around the column', () => {
    const line = `${'long '.repeat(100)}wrng: x ${'and more '.repeat(100)}`;
    const drawn = draw(line, 501, 60);
    expect(drawn).toMatch(/^ {2}12 \| ….*wrng: x and.*…\n/);
    expect([...(drawn.split('\n')[0] ?? '')].slice(pointedAt(drawn)).join('')).toMatch(/^wrng/);
  });
});
