/** Organizations of any size, in shapes that once took more than linear time in some pass. */

/** Files by path. */
export type Files = Readonly<Record<string, string>>;

/** Manifests of size n and, for a plan, the manifests applied before: none, the same, or others. */
export interface Shape {
  readonly now: (n: number) => Files;
  /** Existing and owned resources: none if absent. */
  readonly before?: (n: number) => Files;
  /** Resources are recognized by their natural keys, as in a pipeline without recorded ids. */
  readonly withoutIds?: boolean;
}

const times = (n: number, line: (index: number) => string) =>
  Array.from({ length: n }, (_, index) => line(index)).join('');
const one = (text: string): Files => ({ 'all.yaml': text });

/** All of the same length, because similar names are searched among names of about the same length. */
const wide = (index: number) => 10_000 + index;

const teams = (n: number) => one(`teams:\n${times(n, (i) => `  t${i}: { title: Team ${i} }\n`)}`);
const spaces = (n: number) => `spaces:\n${times(n, (i) => `  s${i}: { title: Space ${i} }\n`)}`;
const site = (structure: string, more = '') => `sites:\n  help:\n    title: Help\n${more}    structure:\n${structure}`;
const flat = (n: number, order = (i: number) => i) =>
  one(spaces(n) + site(times(n, (i) => `      - { key: k${order(i)}, space: s${order(i)}, path: p${order(i)} }\n`)));
const sections = (n: number, order = (i: number) => i) =>
  one(
    spaces(n) +
      site(
        times(n, (at) => {
          const i = order(at);
          return `      - { section: x${i}, title: Section ${i}, path: x${i}, spaces: [{ key: k, space: s${i}, path: p }] }\n`;
        }),
      ),
  );
const oneSection = (n: number) =>
  one(
    spaces(n) +
      site(
        `      - section: x\n        title: Sec\n        path: x\n        spaces:\n${times(n, (i) => `          - { key: k${i}, space: s${i}, path: p${i} }\n`)}`,
      ),
  );
const groups = (n: number, title: (i: number) => string) =>
  one(
    spaces(n) +
      site(
        times(
          n,
          (i) =>
            `      - { group: g${i}, title: Group ${i}, items: [{ group: h${i}, title: ${title(i)}, items: [{ section: x${i}, title: ${title(i)}, path: x${i}, spaces: [{ key: k, space: s${i}, path: p }] }] }] }\n`,
        ),
      ),
  );
/** Collections in chains of this length. */
const chains = (n: number, length: number, key = (i: number) => `c${i}`) =>
  one(
    `collections:\n${times(n, (i) => `  ${key(i)}: { title: Collection, parent: ${i % length === 0 ? 'null' : key(i - 1)} }\n`)}`,
  );
const sites = (n: number, published: boolean) =>
  one(
    spaces(1) +
      `sites:\n${times(n, (i) => `  w${i}: { title: Site ${i}, published: ${published}, default: k, structure: [{ key: k, space: s0, path: p }] }\n`)}`,
  );
const swapped = (n: number) =>
  one(spaces(n) + site(times(n, (i) => `      - { key: k${i}, space: s${i}, path: p${(i + 1) % n} }\n`)));
const people = (n: number) =>
  one(
    `members:\n${times(n, (i) => `  p${i}@acme.example: { role: edit }\n`)}teams:\n  all:\n    title: All\n    members:\n${times(n, (i) => `      p${i}@acme.example: member\n`)}`,
  );
const reverse = (n: number) => (i: number) => n - 1 - i;
const none = () => one('teams: {}\nspaces: {}\nsites: {}\ncollections: {}\nmembers: {}\n');
const emptySite = (n: number) => one(spaces(n) + site('      []\n'));

export const SHAPES: Readonly<Record<string, Shape>> = {
  'teams, new': { now: teams },
  'teams, unchanged': { now: teams, before: teams },
  'teams, all gone': { now: none, before: teams },
  'teams of one title': {
    now: (n) => one(`teams:\n${times(n, (i) => `  t${i}: { title: Team }\n`)}`),
    before: (n) => one(`teams:\n${times(n, (i) => `  u${i}: { title: Team }\n`)}`),
    withoutIds: true,
  },
  'teams renamed': {
    now: (n) => one(`teams:\n${times(n, (i) => `  t${i}: { title: New ${i}, renamedFrom: Team ${i} }\n`)}`),
    before: teams,
    withoutIds: true,
  },
  'site spaces, new': { now: flat },
  'site spaces, unchanged': { now: flat, before: flat, withoutIds: true },
  'site spaces, reversed': { now: (n) => flat(n, reverse(n)), before: flat },
  'site spaces, all others': {
    now: (n) => one(spaces(n) + site(times(n, (i) => `      - { key: l${i}, space: s${i}, path: q${i} }\n`))),
    before: flat,
  },
  'site spaces, gone': { now: emptySite, before: flat },
  'site spaces, paths passed on in a circle': { now: swapped, before: flat },
  'site spaces into sections': { now: sections, before: flat },
  'sections into site spaces': { now: flat, before: sections },
  'sections, new': { now: sections },
  'sections, reversed': { now: (n) => sections(n, reverse(n)), before: sections },
  'sections, gone': { now: emptySite, before: sections },
  'one section of many spaces, new': { now: oneSection },
  'one section of many spaces, gone': { now: emptySite, before: oneSection },
  'groups with sections of one title, new': { now: (n) => groups(n, () => 'Overview') },
  'groups with sections of one title, unchanged': {
    now: (n) => groups(n, () => 'Overview'),
    before: (n) => groups(n, () => 'Overview'),
    withoutIds: true,
  },
  'collections in one chain, new': { now: (n) => chains(n, n) },
  'collections in one chain, unchanged': { now: (n) => chains(n, n), before: (n) => chains(n, n), withoutIds: true },
  'collections in one chain, gone': { now: none, before: (n) => chains(n, n) },
  'collections out of one chain': { now: (n) => chains(n, 1), before: (n) => chains(n, n) },
  'collections into one chain': { now: (n) => chains(n, n), before: (n) => chains(n, 1) },
  'collections of one title in pairs': {
    now: (n) => chains(n, 2),
    before: (n) => chains(n, 2),
    withoutIds: true,
  },
  'sites to publish': { now: (n) => sites(n, true), before: (n) => sites(n, false) },
  'sites, new': { now: (n) => sites(n, true) },
  'people, new': { now: people },
  'people, unchanged': { now: people, before: people },
  'people, gone': { now: none, before: people },
};

/** Manifests with many problems. */
export const BROKEN: Readonly<Record<string, (n: number) => Files>> = {
  'missing references': (n) =>
    one(
      `${spaces(n)}teams: {}\ncollections:\n${times(n, (i) => `  c${wide(i)}: { title: C ${wide(i)}, parent: d${wide(i)} }\n`)}`,
    ),
  'missing references in files that cannot be read whole': (n) => ({
    'a.yaml': `collections:\n${times(n, (i) => `  c${wide(i)}: { title: C ${wide(i)}, parent: d${wide(i)} }\n`)}`,
    ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`bad${wide(i)}.yaml`, `teams:\n\tx${wide(i)}: 1\n`])),
  }),
  'references beside entries with problems': (n) =>
    one(
      `collections:\n${times(n, (i) => `  c${wide(i)}: { title: C ${wide(i)}, parent: e${wide(i)} }\n  b${wide(i)}: { nope: 1 }\n`)}`,
    ),
  'unknown sections': (n) => one(times(n, (i) => `section${i}: {}\n`)),
  'unknown fields': (n) => one(`teams:\n  a:\n    title: A\n${times(n, (i) => `    field${i}: 1\n`)}`),
  'entries with a problem': (n) => one(`teams:\n${times(n, (i) => `  t${i}: { title: 5 }\n`)}`),
  'keys twice': (n) =>
    one(`teams:\n${times(n, (i) => `  t${i}: { title: T }\n`)}${times(n, () => `  t${n - 1}: { title: T }\n`)}`),
  'problems in one site': (n) => one(site(times(n, (i) => `      - { key: k${i}, space: s, path: "" }\n`))),
  'unknown ignores in one site': (n) =>
    one(spaces(1) + site(times(n, (i) => `      - { key: k${i}, space: s0, ignore: [q${i}] }\n`))),
  'site spaces beside sections': (n) =>
    one(
      spaces(1) +
        site(
          `      - { section: x, title: Sec, spaces: [{ key: k, space: s0 }] }\n${times(n, (i) => `      - { key: k${i}, space: s0 }\n`)}`,
        ),
    ),
  'a circle of collections': (n) =>
    one(`collections:\n${times(n, (i) => `  c${i}: { title: C, parent: c${(i + 1) % n} }\n`)}`),
  'missing named files': (n) =>
    one(
      `sites:\n${times(n, (i) => `  w${wide(i)}: { title: W ${wide(i)}, adaptiveSchema: { file: schemas/f${wide(i)}.json } }\n`)}`,
    ),
  'missing named files beside many files': (n) => ({
    'a.yaml': `sites:\n${times(n, (i) => `  w${wide(i)}: { title: W ${wide(i)}, adaptiveSchema: { file: g${wide(i)}.json } }\n`)}`,
    ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${wide(i)}.json`, '{}'])),
  }),
  'ids bound twice': (n) => one(`teams:\n${times(n, (i) => `  t${i}: { id: abcdefgh }\n`)}`),
  'files that name one another in a chain': (n) =>
    Object.fromEntries(
      Array.from({ length: n }, (_, i) => [
        `f${i}.yaml`,
        `sites:\n  w${i}: { title: W ${i}, adaptiveSchema: { file: f${i + 1}.yaml } }\n`,
      ]),
    ),
  'aliases of a long text': (n) =>
    one(`x: &a ${'y'.repeat(200_000)}\nteams:\n${times(n, (i) => `  t${i}: { title: *a }\n`)}`),
  'a long key': (n) =>
    one(
      `teams:\n  ${'k'.repeat(Math.min(n, 1000) * 20)}:\n${times(n, (i) => `    f${i}: 1\n`)}`.replace(
        /^ {2}(k+):/m,
        '  ? $1\n  :',
      ),
    ),
  'documents with an error': (n) => one(times(n, () => '---\na: [\n')),
  documents: (n) => one(times(n, (i) => `---\nteams:\n  t${i}: { title: T }\n`)),
  'an unclosed list in lists': (n) => one(`teams: ${'['.repeat(n)}`),
  'nested mappings': (n) => one(`teams: ${'{a: '.repeat(n)}`),
  'one long line': (n) => one(`teams: { a: { title: ${'x'.repeat(n * 20)} } }`),
  'one long plain text of many lines': (n) => one(`teams:\n  a:\n    title: a\n${times(n, () => '     b c\n')}`),
  'one long quoted text of many lines': (n) => one(`teams:\n  a:\n    title: "a\n${times(n, () => '     b c\n')}"`),
  comments: (n) => one(`${times(n, (i) => `# ${i}\n`)}teams: {}\n${times(n, (i) => `# ${i}\n`)}`),
  anchors: (n) => one(`teams:\n${times(n, (i) => `  t${i}: &a${i} { title: T }\n`)}`),
  tabs: (n) => one(`teams:\n${times(n, () => '\ta: 1\n')}`),
  'carriage returns': (n) => one(`teams:\r${times(n, (i) => `  t${i}: { title: T }\r`)}`),
  'spaces at the end': (n) => one(`{}${' '.repeat(n * 20)}x`),
};
