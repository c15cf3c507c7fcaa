import { describe, expect, test } from 'vitest';
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
/** Manifests in every style, each with the team that has the title `Alpha`, or with none. */
const WRITTEN: Readonly<Record<string, string>> = {
  plain: `teams:\n  a: ${A}\n`,
  'no line break at the end': `teams:\n  a: ${A}`,
  'no line break behind a comment': `teams:\n  a: ${A} # c`,
  'Windows line ends': `teams:\r\n  a: ${A}\r\n`,
  'Windows line ends, none at the end': `teams:\r\n  a: ${A}`,
  'a byte order mark': `\ufeffteams:\n  a: ${A}\n`,
  'a byte order mark before a document': `\ufeff---\nteams:\n  a: ${A}\n`,
  'documents of different sections': `teams:\n  a: ${A}\n---\ncollections:\n  zed: { title: Zed }\n`,
  'documents with ends': `---\nteams:\n  a: ${A}\n...\n---\nmembers:\n  ana@acme.example: {}\n...\n`,
  'a directive, and a comment behind the end': `%YAML 1.2\n---\nteams:\n  a: ${A}\n...\n# after\n`,
  'one section in two documents': `teams:\n  a: ${A}\n---\nteams:\n  zz: { title: Zz }\n`,
  'sections one after the other': `teams:\n  a: ${A}\nmembers:\n  ana@acme.example: {}\ncollections:\n  zed: { title: Zed }\n`,
  'sections the other way round': `collections:\n  zed: { title: Zed }\n\nmembers:\n  ana@acme.example:\n# teams\nteams:\n  a: ${A}`,
  'comments between sections': `teams:\n  a: ${A}\n  # of a\n\n  # indented\n# of members\nmembers:\n  ana@acme.example: {}\n`,
  braces: `teams: { a: ${A} }\n`,
  'braces over lines': `teams:\n  { a: ${A},\n  }\n`,
  'braces beside lines': `teams: { a: ${A} }\nmembers:\n  ana@acme.example: {}\n`,
  'braces in two sections': `teams: { a: ${A} }\nmembers: { ana@acme.example: {} }\n`,
  json: '{\n  "teams": { "a": { "title": "Alpha" } }\n}\n',
  'an anchor': `teams: &t\n  a: &a ${A}\n`,
  'an anchor on a line of its own': `teams:\n  &t\n  a: ${A}\n`,
  'an alias': `collections:\n  c: &c { title: Alpha }\nteams:\n  a: *c\n`,
  quotes: `"teams":\n  "a": ${A}\n`,
  'keys with question marks': `? teams\n: a: ${A}\n`,
  tabs: `teams:\n  a:\t${A}\t# t\n\t\n`,
  'eight columns':
    'teams:\n        a:\n            title: Alpha\n            # inner\n        # own\n    # between\n# out\n',
  'one column': `teams:\n a: ${A}\n`,
  'empty lines': 'teams:\n\n\n  a:\n    title: Alpha\n\n\n\n',
  'a section with nothing in it': 'teams:\n# of members\nmembers:\n  ana@acme.example: {}\n',
  'an empty mapping': 'teams: {}\n',
  'a text over lines': 'teams:\n  a:\n    title: >-\n      Alpha\n\n\nmembers:\n  ana@acme.example: {}\n',
  'an entry with nothing in it': 'members:\n  ana@acme.example: # c',
  'sections that are indented': `  teams:\n    a: ${A}\n  members:\n    ana@acme.example: {}\n`,
  'a key that another team would get': `teams:\n  beta: ${A}\n`,
  nothing: '',
  'a comment': '# nothing yet\n',
};

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

describe('an import into manifests in any style', () => {
  describe.each(['teams.yaml', 'all.yml'])('in %s', (path) => {
    test.each(Object.entries(WRITTEN))('keeps everything of %s, and has an empty plan', async (_name, text) => {
      const files = await imported({ [path]: text });
      expect(isWithin(text, files[path] ?? '')).toBe(true);
      const { plan } = await planOf({ manifests: files, actuals: ACTUALS, people: PEOPLE });
      expect(plan.changes.filter(({ action }) => action !== 'create')).toEqual([]);
      expect(plan.unmanaged).toEqual([]);
      expect(Object.values(files).join('')).not.toMatch(/ignore:/);
      expect((await importOf(OBSERVATION, { into: files })).files).toEqual([]);
    });
  });
});

test('adds its own entries to each section of a file', async () => {
  const files = await imported({ 'octavo.yaml': WRITTEN['sections one after the other'] ?? '' });
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
