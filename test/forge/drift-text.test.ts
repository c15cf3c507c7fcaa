import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DriftReport,
  driftBranch,
  driftMessage,
  driftPull,
  goneComment,
  isDriftCommit,
} from '../../src/forge/drift.ts';
import { checkRefName } from '../../src/git/run.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { codeIn, markdownSkeleton } from '../support/markdown-skeleton.ts';

const TREE = 'c'.repeat(40);
const text = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS, '/close', '```', '~~~~', '\n', 'Fixes #1', '@acme/team', '[skip ci]'),
  fc.string({ unit: codePoint }),
);

function reportOf(hostile: string): DriftReport {
  return {
    organization: hostile,
    title: hostile,
    resources: [
      {
        action: 'update',
        address: `member/${hostile}`,
        file: `${hostile}.yaml`,
        line: 3,
        fields: [
          { path: 'title', from: hostile, to: `${hostile}!` },
          { path: 'members', from: { [hostile]: 'admin' }, to: {} },
          { path: 'list', from: [hostile], to: [] },
          { path: 'schema', from: { [hostile]: 1 }, to: { other: hostile } },
        ],
      },
      { action: 'move', address: `section/${hostile}`, file: 'a.yaml', line: 1, fields: [] },
      { action: 'delete', address: `team/${hostile}`, file: 'a.yaml', line: 1, fields: [] },
    ],
    omitted: [{ address: `site/${hostile}`, reason: hostile }],
  };
}

const plain = reportOf('plain');
const shapeOf = (body: string) => markdownSkeleton(body).replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');

describe('arbitrary titles', () => {
  test('are quoted as code in description and comment, without changing their structure', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (hostile, isTaken) => {
        const { body } = driftPull(reportOf(hostile), 65_535, { isTaken });
        expect(shapeOf(body)).toBe(shapeOf(driftPull(plain, 65_535, { isTaken }).body));
        expect(shapeOf(goneComment(reportOf(hostile)))).toBe(shapeOf(goneComment(plain)));
        // No quick actions, no commands to a runner, and no invisible characters.
        expect(body).not.toMatch(/^\/|^\s*::|##\w*\[|[\u202a-\u202e\u2066-\u2069\ufeff]|[^\P{Cc}\n]/mu);
        expect(codeIn(body).length).toBe(codeIn(driftPull(plain, 65_535, { isTaken }).body).length);
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    'Closes #1',
    'fixes: acme/docs#12, #13',
    'Resolving   https://gitlab.example/acme/docs/-/issues/1',
    'Implements ABC-1',
    'closes issues #1 and #2',
    '@acme/team, and @ana',
    '[skip ci]',
    '[CI-Skip]',
    '[no ci]',
    '[skip actions]',
  ])('do not act in a description, a commit message or a code block: %s', (hostile) => {
    const { body } = driftPull(reportOf(hostile), 65_535, { isTaken: true });
    expect(body).not.toMatch(
      /\b(?:clos|fix|resolv|implement)(?:e|es|ed|ing|s)?:? +(?:issues? +)?(?:\S*#\d|http|[A-Z]+-\d)/i,
    );
    expect(body).not.toMatch(/\[(?:skip|ci|no|actions)[ -]|(?<![A-Za-z0-9])@/i);
    expect(codeIn(body)[1]).toContain(hostile.slice(-2));
  });

  test('stay unchanged if they do not close issues', () => {
    const { body } = driftPull(reportOf('Fix the docs for ana@acme.example [draft]'), 65_535, { isTaken: false });
    expect(body).toContain('"Fix the docs for ana@acme.example [draft]"');
  });

  test('add no mention, reference, trailer or command to the commit message', () => {
    fc.assert(
      fc.property(text, (hostile) => {
        const message = driftMessage(reportOf(hostile), TREE);
        expect(message.split('\n').map((line) => line.replace(/^(- )?\S+?:? .*$/, '$1'))).toHaveLength(8);
        expect(message).toMatch(/^[A-Za-z0-9@._/+:=, \n-]+$/);
        expect(message).not.toMatch(/(?<![A-Za-z0-9])@|@(?![A-Za-z0-9])|#|\[|:\/\//);
        expect(isDriftCommit(message, TREE)).toBe(true);
        expect(isDriftCommit(message, 'd'.repeat(40))).toBe(false);
        expect(isDriftCommit(`${message}\nSigned-off-by: somebody\n`, TREE)).toBe(false);
        expect(driftPull(reportOf(hostile), 65_535, { isTaken: false }).title).toMatch(
          /^Drift: [A-Za-z0-9@._/+:= -]+$/,
        );
      }),
    );
  });

  test('result in a valid, distinct branch name for each organization', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const branch = driftBranch(one);
        expect(branch).toMatch(/^octavo\/drift\/[A-Za-z0-9_][A-Za-z0-9_-]*$/);
        expect(() => checkRefName(branch)).not.toThrow();
        expect(branch.length).toBeLessThan(150);
        expect(driftBranch(other) === branch).toBe(one === other);
      }),
    );
  });
});

test('cuts a long description between lines, with a note', () => {
  const [resource] = plain.resources;
  const many = Array.from({ length: 3000 }, (_, at) => ({ ...(resource as never as object), address: `team/t${at}` }));
  const { body } = driftPull({ ...plain, resources: many as never }, 65_535, { isTaken: false });
  expect(body.length).toBeLessThanOrEqual(65_535);
  expect(body).toContain('The commit contains all changes.');
  expect(body).toMatch(/\n {2}…\n```\n/);
  expect(driftMessage({ ...plain, resources: many as never }, TREE)).toContain('\n- and 2900 more\n');
});
