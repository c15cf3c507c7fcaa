/** Imports into manifests that exist, in any style: everything that was written stays, and the plan is empty. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases, SEED } from '../support/campaign.ts';
import { actual, planOf } from '../support/planning.ts';
import { type Files, filesAfter, importOf, observationOf } from './importing.ts';

const PEOPLE = { 'ana@acme.example': 'usr_ana', 'bo@acme.example': 'usr_bo' };
const ACTUALS = [
  ...Object.entries(PEOPLE).map(([title, id]) => actual('member', id, { role: 'admin', sso: false }, { title })),
  ...['Alpha', 'Beta', 'Gamma # x'].map((title) => actual('team', `tem_${title}`, { title, members: {} })),
  // A text that ends in line breaks is written as a multiline text that keeps its end.
  actual('collection', 'col_1', { title: 'Line\nbreak\n\n', parent: null }),
  actual('collection', 'col_2', { title: 'Zed', parent: null }),
];
const OBSERVATION = observationOf(ACTUALS, PEOPLE);

const A = '{ title: Alpha }';
/** Sections that can be continued, with the team `Alpha` or none; entries are indented by two spaces. */
const OPEN = [
  `teams:\n  a: ${A}`,
  `teams:\n  a: ${A} # why`,
  'teams:\n  a:\n    title: Alpha\n    # about its end',
  'teams:\n  a:\n    title: Alpha\n\n    # inner\n  # own\n\n  # indented',
  'teams:\n  a:\n    title: >-\n      Alpha\n\n',
  'teams:\n  a: {\n    title: Alpha\n  }',
  `"teams":\n\n\n  "a": ${A}\n\n`,
  `teams:\n  a:\t${A}\t# t`,
  `teams: &t\n  a: &a ${A}`,
  `teams:\n  &t\n  a: ${A}`,
  // The key that another team would get.
  `teams:\n  beta: ${A}`,
  'teams:',
  'teams: # none yet',
  'teams:\n  # none yet',
];
/** Sections that cannot, whose additions go into another file. */
const CLOSED = [
  'teams: {}',
  'teams: {\n  a: { title: Alpha }\n  }',
  `teams: { a: ${A} } # all`,
  `teams:\n  { a: ${A},\n  }`,
  `? teams\n: a: ${A}`,
];
const COLLECTIONS = 'collections:\n  zed: { title: Zed }\n';
const MEMBERS = 'members:\n  ana@acme.example:';
const BEFORE = [
  '',
  '# ours\n\n',
  '\ufeff',
  `${COLLECTIONS}\n# teams\n`,
  '---\n',
  '%YAML 1.2\n---\n',
  `${COLLECTIONS}---\n`,
];
const AFTER = [
  ...['', '\n', '\n\n\n', '\n# the end', '\n\n# the end\n', '\n...\n', '\n...\n# after\n'],
  ...[`\n# of members\n${MEMBERS} {}\n`, `\n\n${MEMBERS} # c`, '\nmembers: { ana@acme.example: {} }\n'],
  ...[`\n---\n${MEMBERS}\n...\n`, '\n---\nteams:\n  zz: { title: Zz }\n'],
];

/** Reports whether all of a text is still there, in the same order. */
function isWithin(before: string, after: string): boolean {
  let at = 0;
  for (const line of before.split(/(?<=\n)/)) {
    const found = after.indexOf(line, at);
    if (found === -1) {
      return false;
    }
    at = found + line.length;
  }
  return true;
}

async function imported(into: Files): Promise<Files> {
  return filesAfter(await importOf(OBSERVATION, { into }), into);
}

/** Imports into a file, and returns its text. */
async function expectKept(path: string, text: string): Promise<string> {
  const files = await imported({ [path]: text });
  const after = files[path] ?? '';
  expect(isWithin(text, after)).toBe(true);
  const { plan } = await planOf({ manifests: files, actuals: ACTUALS, people: PEOPLE });
  expect(plan.changes.filter(({ action }) => action !== 'create')).toEqual([]);
  expect(plan.unmanaged).toEqual([]);
  expect(Object.values(files).join('')).not.toMatch(/ignore:/);
  expect((await importOf(OBSERVATION, { into: files })).files).toEqual([]);
  return after;
}

describe('an import into a file', () => {
  test('continues its sections in their style, and keeps everything', async () => {
    const sections = fc.oneof(
      fc.tuple(fc.constantFrom(...OPEN), fc.constant(true)),
      fc.tuple(fc.constantFrom(...CLOSED), fc.constant(false)),
    );
    const around = fc.record({
      before: fc.constantFrom(...BEFORE),
      after: fc.constantFrom(...AFTER),
      indent: fc.constantFrom(' ', '  ', '    '),
      isWindows: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(sections, around, async ([section, isOpen], { before, after, indent, isWindows }) => {
        const unix = before + section.replaceAll(/\n {2}(?=[\w"#&{} ])/g, `\n${indent}`) + after;
        const text = isWindows ? unix.replaceAll('\n', '\r\n') : unix;
        const kept = await expectKept('teams.yaml', text);
        expect(/^ +gamma-x: /m.test(kept)).toBe(isOpen);
        expect(kept).not.toMatch(text.includes('\r\n') ? /[^\r]\n/ : /\r| \n/);
      }),
      { seed: SEED, numRuns: countCases({ sample: 100, ci: 400, full: 5000 }) },
    );
  });

  test.each([
    '',
    '# nothing yet\n',
    '{\n  "teams": { "a": { "title": "Alpha" } }\n}\n',
    `collections:\n  c: &c { title: Alpha }\nteams:\n  a: *c\n`,
    `  teams:\n    a: ${A}\n  members:\n    ana@acme.example: {}\n`,
  ])('keeps everything of %j', async (text) => {
    await expectKept('all.yml', text);
  });
});

test('adds entries below the comments of an empty section', async () => {
  const kept = await expectKept('teams.yaml', 'teams:\n  # none yet\n# of members\nmembers: {}\n');
  expect(kept).toMatch(/^teams:\n {2}# none yet\n {2}alpha: .*\n {2}beta: .*\n {2}gamma-x: .*\n# of members\n/);
});

test('adds its own entries to each section of a file', async () => {
  const files = await imported({ 'octavo.yaml': `teams:\n  a: ${A}\n${MEMBERS} {}\n${COLLECTIONS}` });
  expect(files).toEqual({
    'octavo.yaml': `teams:
  a: { title: Alpha }
  beta: { title: Beta, members: {} }
  gamma-x: { title: "Gamma # x", members: {} }
members:
  ana@acme.example: {}
  bo@acme.example: { role: admin }
collections:
  zed: { title: Zed }
  # title: omitted, because it has a line break, which a platform may remove; write "Line break"
  # id: no other field identifies it reliably
  line-break: { id: col_1 }
`,
  });
});
