import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shellCommand } from '../../src/core/text/shell.ts';
import {
  compareRuns,
  failureComment,
  failureStatus,
  planComment,
  planStatus,
  readMarker,
  writeMarker,
} from '../../src/forge/comment.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { codeIn, commentSkeleton, markdownSkeleton } from '../support/markdown-skeleton.ts';
import { actual, planOf } from '../support/planning.ts';
import { execFileSync } from '../support/programs.ts';

const MARKER = { organization: 'org_1', scope: '.', run: [7, 1] } as const;
const ROOM = {
  maxLength: 65_535,
  runUrl: 'https://forge.example/run/7',
  filesUrl: 'https://forge.example/blob/b/',
};
const COMMIT = 'b'.repeat(40);
/**
 * Text that affects a terminal, changes the reading direction, is a command to a CI runner, or is a quick action of
 * GitLab.
 */
const ACTIVE =
  /[\p{Cs}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029\ufeff]|[^\P{Cc}\n]|##\w*\[|^\s*::|^\//mu;
const hostile = fc.array(
  fc.oneof(fc.constantFrom(...HOSTILE_TEXTS, '/close', '```', '::error::', '\n'), fc.string({ unit: codePoint })),
  {
    minLength: 1,
    maxLength: 5,
  },
);

const teams = (count: number) =>
  JSON.stringify({
    teams: Object.fromEntries(Array.from({ length: count }, (_, at) => [`team-${at}`, { title: `Team ${at}` }])),
  });

async function hostilePlan(text: string) {
  const { plan } = await planOf({
    manifests: {
      // A file whose name begins with a dot would be hidden.
      [`m${text.replaceAll('/', '_').slice(0, 30)}.yaml`]: JSON.stringify({
        organization: { ai: true },
        teams: { a: { title: 'A', members: { 'ana@acme.example': 'owner' } } },
      }),
    },
    base: 'teams: { a: { title: A }, gone: { title: Gone } }',
    actuals: [
      actual('organization', 'org_1', { title: text, ai: false }),
      actual('team', 't1', { title: 'A', members: { [`${text}@acme.example`]: 'owner' } }),
      actual('team', `t2${text}`, { title: 'Gone' }),
      actual('team', `t3${text}`, { title: text }),
    ],
  });
  return planComment(plan, MARKER, ROOM, COMMIT);
}

describe('the marker', () => {
  test('can be read back for any organization name, and is one invisible line', () => {
    const number = fc.nat();
    const text = fc.string({ unit: codePoint });
    const scopes = fc.oneof(
      fc.constant('.'),
      text.filter((scope) => scope !== ''),
    );
    fc.assert(
      fc.property(text, scopes, number, number, (organization, scope, run, attempt) => {
        const line = writeMarker({ organization, scope, run: [run, attempt] });
        expect(readMarker(`${line}\nanything`)).toEqual({
          organization: organization.toWellFormed(),
          scope: scope.toWellFormed(),
          run: [run, attempt],
        });
        expect(markdownSkeleton(line)).toBe(`root (html ${JSON.stringify(line)})`);
      }),
    );
  });

  test('is found below lines that a person wrote above it, and only where it begins a line', () => {
    const line = writeMarker({ organization: 'org_1', scope: '.', run: [3, 1] });
    const found = { organization: 'org_1', scope: '.', run: [3, 1] };
    expect(readMarker(`Thanks!\r\n\r\n${line}\n### Plan`)).toEqual(found);
    expect(readMarker(`${line}\n${writeMarker({ organization: 'other', scope: '.', run: [9, 9] })}`)).toEqual(found);
    expect(readMarker(`> ${line}`)).toBeNull();
    expect(readMarker(`See: ${line}`)).toBeNull();
  });

  test.each(['', 'a comment', ' <!-- octavo:plan organization=a run=1.1 -->', '<!-- octavo:plan organization=a -->'])(
    'is not found in %j',
    (body) => {
      expect(readMarker(body)).toBeNull();
    },
  );

  test('orders later runs after earlier ones', () => {
    expect(compareRuns([2, 1], [1, 9])).toBeGreaterThan(0);
    expect(compareRuns([2, 1], [2, 2])).toBeLessThan(0);
    expect(compareRuns([2, 1], [2, 1])).toBe(0);
  });
});

describe('the comment of a plan', () => {
  test('starts with its marker and a summary, and folds a long plan', async () => {
    const short = planComment((await planOf({ manifests: teams(2), commit: COMMIT })).plan, MARKER, ROOM, COMMIT);
    expect(short.split('\n').slice(0, 11)).toEqual([
      writeMarker(MARKER),
      '### Plan for `org_1`: commit bbbbbbb',
      '',
      '**Creates 2 teams**',
      '',
      '**Created: 2 teams**',
      '',
      '```diff',
      '+ Team 0 (team/team-0)',
      '+ Team 1 (team/team-1)',
      '```',
    ]);
    expect(short).not.toContain('<details>');
    const long = planComment((await planOf({ manifests: teams(40) })).plan, MARKER, ROOM, COMMIT);
    expect(long).toContain('\n<details><summary>Created: 40 teams</summary>\n\n```diff\n+ Team 0 (team/team-0)');
    const empty = planComment((await planOf({ manifests: 'teams: {}', base: 'teams: {}' })).plan, MARKER, ROOM, COMMIT);
    expect(empty).toContain('**No changes**\n\n0 unchanged.');
  });

  test('shows held and refused changes', async () => {
    const held = await planOf({
      manifests: 'spaces: {}',
      base: 'spaces: { s: { title: S } }',
      actuals: [actual('space', 's1', { title: 'S' })],
      policy: { requireApproval: ['space'] },
    });
    const comment = planComment(held.plan, MARKER, ROOM, COMMIT);
    const short = held.plan.heldChecksum?.slice('sha256:'.length).slice(0, 8);
    expect(comment).toContain('**1 change waits for approval**');
    expect(comment).toContain('- S (space/s): waits (deleting spaces needs approval)');
    expect(codeIn(comment)).toContain(`octavo approve ${short}`);
    expect(codeIn(comment).at(-1)).toMatch(new RegExp(`^octavo apply --approve (?:sha256:)?${short}`));
    expect(planStatus(held.plan)).toMatchObject({ state: 'success', context: 'octavo/plan/org_1' });
    const refused = { ...held.plan, verdict: { state: 'refused', reasons: ['no admin would be left'] } } as const;
    expect(planComment(refused, MARKER, ROOM, COMMIT)).toContain('**Refused**: `no admin would be left`');
    expect(planStatus(refused)).toMatchObject({ state: 'failure', description: expect.stringMatching(/^refused: /) });
    expect(failureStatus(MARKER)).toMatchObject({ state: 'error', context: 'octavo/plan/org_1' });
  });

  test('quotes any text in titles, ids, files and members as inactive code', async () => {
    const expected = commentSkeleton(await hostilePlan('Acme'));
    expect(expected).toContain('text "In " FILES');
    await fc.assert(
      fc.asyncProperty(hostile, async (parts) => {
        const comment = await hostilePlan(parts.join(''));
        expect(commentSkeleton(comment)).toBe(expected);
        expect(comment).not.toMatch(ACTIVE);
      }),
      { numRuns: 40 + HOSTILE_TEXTS.length, examples: HOSTILE_TEXTS.map((text) => [[text]]) },
    );
  });
});

describe('the code of a comment', () => {
  test('has no wide lines, and no part of a secret that was broken in two', async () => {
    const secret = `https://ana:${'hunter2-'.repeat(12)}@git.acme.example/${'path/'.repeat(20)}`;
    const emails = Array.from({ length: 3 }, (_, at) => `person.with.a.long.name-${at}@documentation.acme.example`);
    const { plan } = await planOf({
      manifests: JSON.stringify({
        teams: { writers: { title: 'Writers', members: Object.fromEntries(emails.map((each) => [each, 'member'])) } },
      }),
      base: JSON.stringify({ teams: { writers: { title: 'Writers' } }, spaces: { gone: { title: 'Gone' } } }),
      actuals: [
        actual('team', 't1', { title: secret, members: {} }),
        actual('space', 's1', { title: secret }, { facts: { openChangeRequests: 2 } }),
        actual('space', 's2', { title: 'Gone' }, { facts: { openChangeRequests: 2 } }),
      ],
      people: Object.fromEntries(emails.map((each) => [each, each])),
      ids: { 'team/writers': 't1', 'space/gone': 's1' },
      policy: { requireApproval: ['space'] },
    });
    const comment = planComment(plan, MARKER, ROOM, COMMIT);
    const lines = codeIn(comment).flatMap((code) => (code.includes('\n') ? code.split('\n') : []));
    expect(lines.filter(({ length }) => length > 72)).toEqual([]);
    expect(comment).toMatch(new RegExp(`^! ${emails[0]} joins\n!   team/writers \\(member\\)$`, 'm'));
    expect(comment).not.toContain('hunter2');
  });

  test('has commands that a shell reads as one, whatever is in their words', async () => {
    const { plan } = await planOf({
      manifests: 'spaces: {}',
      base: 'spaces: { s: { title: S } }',
      actuals: [actual('space', 's1', { title: 'S' })],
      policy: { requireApproval: ['space'] },
    });
    const word = fc.oneof(
      hostile.map((parts) => parts.join('').replaceAll(/\0|[\r\n]+$/g, '')),
      fc.string(),
    );
    // A command for a CI runner is written out, so that the runner does not run it.
    const plain = word.map((text) => text.replaceAll('##', '#'));
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 4 }), (words) => {
        const given = [
          'apply',
          ...words.map((each) => each.toWellFormed().replaceAll(/\0|\n+$/g, '')),
          '--yes',
          '--config',
          'x',
        ];
        const command = (checksum: string) => shellCommand(['printf', '%s\\0', ...given, checksum]);
        const comment = planComment(plan, MARKER, ROOM, COMMIT, { when: '', command });
        const read = execFileSync('sh', ['-c', codeIn(comment).at(-1) ?? ''], { encoding: 'utf8' }).split('\0');
        expect(read).toEqual([...given, plan.heldChecksum, '']);
      }),
      { numRuns: 30 },
    );
  });

  test('has the command that approves by comment only where it is allowed', async () => {
    const { plan } = await planOf({
      manifests: 'spaces: {}',
      base: 'spaces: { s: { title: S } }',
      actuals: [actual('space', 's1', { title: 'S' })],
      policy: { requireApproval: ['space'] },
    });
    const comment = (isByComment: boolean) =>
      planComment(plan, MARKER, ROOM, COMMIT, { when: 'once merged, ', command: () => 'octavo apply', isByComment });
    const digits = plan.heldChecksum?.slice(7, 15);
    expect(comment(false)).toContain(
      `\nOnce merged, approve on the web page, or with \`octavo approve ${digits}\` where`,
    );
    expect(comment(false)).not.toContain('write a comment');
    expect(comment(true)).toContain(
      `\nTo approve, write a comment that is only \`octavo approve ${digits}\`. It counts`,
    );
  });
});

describe('the diff of a comment', () => {
  test('has old and new values as people write them, with titles before addresses and links to the files', async () => {
    const { plan } = await planOf({
      manifests: {
        'a folder/spaces (1).yaml':
          'spaces:\n  guides: { title: Guides new, emoji: "1f4d8" }\n  api: { title: API, emoji: "1f4d8" }',
        'members.yaml': 'teams: { writers: { title: Writers, members: { bo@acme.example: owner } } }',
      },
      base: 'spaces: { guides: { title: Guides } }\nteams: { writers: { title: Writers } }',
      actuals: [
        actual('space', 's1', { title: 'Guides', emoji: '1f680' }),
        actual('team', 't1', {
          title: 'Writers',
          members: { 'bo@acme.example': 'member', 'cy@acme.example': 'member' },
        }),
      ],
    });
    const comment = planComment(plan, MARKER, ROOM, COMMIT);
    const diffs = codeIn(comment).filter((code) => code.includes('\n'));
    expect(diffs).toEqual([
      '! bo@acme.example changes role in team/writers (member → owner)\n! cy@acme.example leaves team/writers (member)',
      '! Writers (team/writers)\n!   members: bo@acme.example (member → owner)\n-   members: cy@acme.example',
      '+ API (space/api)\n+   emoji: 📘',
      '! Guides (space/guides)\n-   title: Guides\n+   title: Guides new\n-   emoji: 🚀\n+   emoji: 📘',
    ]);
    const file = 'https://forge.example/blob/b/a%20folder/spaces%20%281%29.yaml';
    expect(comment).toContain(`In [\`a folder/spaces (1).yaml:3\`](${file}#L3)`);
    expect(comment).toContain(`In [\`a folder/spaces (1).yaml:2\`](${file}#L2)`);
    expect(planComment(plan, MARKER, { ...ROOM, filesUrl: null }, COMMIT)).toContain(
      'In `a folder/spaces (1).yaml:3`\n',
    );
  });

  test('gives each change one sign, and names the file of several changes without a line', async () => {
    const titles = ['a', 'b'].map((key) => `Everything that customers ask about invoices ${key}`);
    const { plan } = await planOf({
      manifests: teams(2),
      base: JSON.stringify({ spaces: { a: { title: titles[0] }, b: { title: titles[1] } } }),
      actuals: [actual('space', 'a', { title: titles[0] ?? '' }), actual('space', 'b', { title: titles[1] ?? '' })],
      policy: { requireApproval: ['space'] },
    });
    const comment = planComment(plan, MARKER, ROOM, COMMIT);
    const [deleted = ''] = codeIn(comment).filter((code) => code.startsWith('- '));
    expect(deleted.split('\n').length).toBeGreaterThan(2);
    expect(deleted.match(/^-/gm)).toHaveLength(2);
    expect(comment).toMatch(/^In \[`[^`:]+`\]\([^)#]+\)$/m);
  });

  test('folds a group with many changes, and every group of a large plan', async () => {
    const folds = async (creations: number) => {
      const declared = JSON.parse(teams(creations));
      const { plan } = await planOf({
        manifests: JSON.stringify({ ...declared, spaces: { s: { title: 'New' } } }),
        base: 'spaces: { s: { title: Old } }\nteams: { gone: { title: Gone } }',
        actuals: [actual('space', 's1', { title: 'Old' }), actual('team', 't9', { title: 'Gone' })],
      });
      const comment = planComment(plan, MARKER, ROOM, COMMIT);
      return [...comment.matchAll(/<summary>(\w+): |^\*\*(\w+): /gm)].map(
        ([, folded, open]) => folded?.toUpperCase() ?? open,
      );
    };
    expect(await folds(20)).toEqual(['Deleted', 'Created', 'Updated']);
    expect(await folds(21)).toEqual(['Deleted', 'CREATED', 'Updated']);
    expect(await folds(24)).toEqual(['Deleted', 'CREATED', 'UPDATED']);
  });
});

describe('a comment that is too long', () => {
  test.each([
    [600, ''],
    [1100, ''],
    [1500, ' of a space with a long title'],
  ])('still shows every deletion, of 1,500 changes with %i deletions%s', async (deletions, words) => {
    const gone = Array.from({ length: deletions }, (_, at) => `gone-${at}`);
    const titleOf = (key: string) => `${'`'.repeat(9)} ${key}${words}`;
    const { plan } = await planOf({
      manifests: teams(1500 - deletions),
      base: JSON.stringify({ spaces: Object.fromEntries(gone.map((key) => [key, { title: titleOf(key) }])) }),
      actuals: gone.map((key) => actual('space', key, { title: titleOf(key) })),
      policy: { requireApproval: ['space'] },
    });
    const comment = planComment(plan, MARKER, ROOM, COMMIT);
    expect(comment.length).toBeLessThanOrEqual(ROOM.maxLength);
    for (const key of gone) {
      expect(comment).toMatch(new RegExp(`[ (]space/${key}\\)?$|\\(space/${key}\\):`, 'm'));
    }
    const shown = comment.match(/^\+ Team /gm)?.length ?? 0;
    const more = 1500 - deletions - shown;
    expect(comment.includes(`<summary>Created: ${1500 - deletions} teams</summary>`)).toBe(deletions < 1500);
    expect(comment.includes(`… and ${more} more (${more} teams)`)).toBe(more > 0);
    // The first ones keep their consequences, or at least their titles.
    expect(comment).toMatch(/` gone-0[^\n]* \(space\/gone-0\)/);
    expect(comment).toContain('[the job](https://forge.example/run/7) contains the whole plan');
  });

  test.each([1500, 4000, 65_535])(
    'is shortened to %i characters with a note, and stays valid Markdown',
    async (maxLength) => {
      const { plan } = await planOf({ manifests: teams(2500) });
      const comment = planComment(plan, MARKER, { ...ROOM, maxLength }, COMMIT);
      expect(comment.length).toBeLessThanOrEqual(maxLength);
      expect(comment.length).toBeGreaterThan(maxLength - 300);
      expect(comment).toContain('**Creates 2500 teams**');
      expect(comment).toContain('[the job](https://forge.example/run/7) contains the whole plan');
      const [, text = ''] = codeIn(comment);
      const shown = text.split('\n').filter((line) => line.startsWith('+ Team ')).length;
      expect(text).toContain(`… and ${2500 - shown} more (${2500 - shown} teams)`);
      // What follows the changes is there too.
      expect(comment).toContain('\n0 unchanged. 3 requests, about 2 s');
      expect(markdownSkeleton(comment)).toBe(
        markdownSkeleton(planComment(plan, MARKER, { ...ROOM, maxLength: maxLength + 500 }, COMMIT)),
      );
    },
  );

  /** Many creations and every dangerous change: a held deletion, deletions, and people who gain access. */
  const dangerous = async (creations: number, deletions: number, people: number) => {
    const emails = Array.from({ length: people }, (_, at) => `p${at}@acme.example`);
    const teams = Object.fromEntries(Array.from({ length: creations }, (_, at) => [`a${at}`, { title: `New ${at}` }]));
    const gone = Array.from({ length: deletions }, (_, at) => `gone-${at}`);
    const titleOf = (key: string) => `${key} ${'`'.repeat(20)} </details>`;
    const joined = { title: 'Joined', members: Object.fromEntries(emails.map((email) => [email, 'member'])) };
    const { plan } = await planOf({
      manifests: JSON.stringify({ teams: { ...teams, joined }, spaces: { kept: { title: 'Kept, renamed' } } }),
      base: JSON.stringify({
        teams: {
          joined: { title: 'joined' },
          ...Object.fromEntries(gone.map((key) => [key, { title: titleOf(key) }])),
        },
        saml: { okta: { label: 'Okta' } },
        spaces: { kept: { title: 'Kept' } },
      }),
      actuals: [
        ...gone.map((key) => actual('team', key, { title: titleOf(key) }, { facts: { members: 1 } })),
        actual('team', 'joined', { title: 'joined', members: {} }),
        actual('saml', 'okta', { label: 'Okta' }),
        actual('space', 's1', { title: 'Kept' }),
      ],
      people: Object.fromEntries(emails.map((email) => [email, email])),
      policy: { requireApproval: ['saml'] },
    });
    return plan;
  };
  const planText = (comment: string) => codeIn(comment).join('\n');

  test('omits creations first, then updates, access changes and deletions, for any limit', async () => {
    const plan = await dangerous(60, 40, 30);
    const order = [/^- (?:Okta|saml\/okta)/, /^- (?:team\/)?gone-/, /^! joined/, /^! Kept/, /^\+ New /];
    const totals = [1, 40, 1, 1, 60];
    const whole = planComment(plan, MARKER, ROOM, COMMIT).length;
    fc.assert(
      fc.property(fc.integer({ min: 2000, max: whole }), (maxLength) => {
        const comment = planComment(plan, MARKER, { ...ROOM, maxLength }, COMMIT);
        expect(comment.length).toBeLessThanOrEqual(maxLength);
        expect(markdownSkeleton(comment).match(/<\/?details>/g)).toEqual(
          Array.from({ length: 5 }, () => ['<details>', '</details>']).flat(),
        );
        const text = planText(comment);
        const lines = text.split('\n');
        const shown = order.map((start) => lines.filter((line) => start.test(line)).length);
        const firstCut = shown.findIndex((count, at) => count < (totals[at] ?? 0));
        expect(firstCut === -1 ? [] : shown.slice(firstCut + 1).filter((count) => count > 0)).toEqual([]);
        const joins = text.match(/p\d+@acme\.example joins team\/joined/g) ?? [];
        expect((shown[4] ?? 0) === 0 || joins.length === 30).toBe(true);
        const counted = [...text.matchAll(/… and (\d+) more \(/g)].map(([, count]) => Number(count));
        const sum = (numbers: readonly number[]) => numbers.reduce((total, count) => total + count, 0);
        expect(sum(shown) + sum(counted)).toBe(sum(totals));
      }),
      { numRuns: 60 },
    );
  });

  test('names deletions and access above the fold, and in the status, in a plan of 300 changes', async () => {
    const keys = Array.from({ length: 300 }, (_, at) => `t${at}`);
    const gone = Array.from({ length: 10 }, (_, at) => `s${at}`);
    const { plan } = await planOf({
      manifests: JSON.stringify({
        teams: Object.fromEntries(keys.map((key) => [key, { title: key }])),
        sites: { help: { title: 'Help', published: true, visibility: 'public' } },
      }),
      base: JSON.stringify({ spaces: Object.fromEntries(gone.map((key) => [key, { title: `@all ${key}` }])) }),
      actuals: [
        ...gone.map((key) => actual('space', key, { title: `@all ${key}` }, { facts: { openChangeRequests: 2 } })),
        actual('site', 'w1', { title: 'Help', published: true, visibility: 'share-link' }),
      ],
      policy: { requireApproval: ['space'] },
    });
    const comment = planComment(plan, MARKER, ROOM, COMMIT);
    const above = comment.slice(0, comment.indexOf('<details'));
    expect(above).toContain('**Deletes 10 spaces, makes `Help` public, creates 300 teams**');
    expect(above).toContain('**All 311 changes wait for approval**: `11 resources would be updated or deleted, more');
    for (const key of gone) {
      expect(above).toContain(`- @all ${key} (space/${key}): 2 open change requests; waits (`);
    }
    expect(above).toContain('! everyone on the internet gains access to site/help (read');
    expect(comment).not.toMatch(ACTIVE);
    expect(planStatus(plan).description).toMatch(/^waits for approval: deletes 10 spaces; 300 to create/);
  });

  test('shows the start of a change that does not fit', async () => {
    const text = planText(planComment(await dangerous(0, 0, 3000), MARKER, { ...ROOM, maxLength: 6000 }, COMMIT));
    expect(text).toMatch(/^! joined \(team\/joined\)\n(?:[-+] .*\n)+ {4}…$/m);
    expect(text).toMatch(/^ {4}… and \d+ more$/m);
  });

  test('is cut between lines, for any text', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 60 }), fc.integer({ min: 900, max: 3000 }), (lines, maxLength) => {
        const message = lines.map((parts) => parts.join('')).join('\n');
        const room = { ...ROOM, maxLength };
        const comment = failureComment(message, COMMIT, MARKER, room);
        expect(comment.length).toBeLessThanOrEqual(maxLength);
        const whole = codeIn(failureComment(message, COMMIT, MARKER, { ...room, maxLength: 10_000_000 }))[1] ?? '';
        const kept = (codeIn(comment)[1] ?? '').split('\n').filter((line) => line !== '  …');
        expect(whole.split('\n')).toEqual(expect.arrayContaining(kept));
        expect(comment).not.toMatch(ACTIVE);
      }),
      { numRuns: 60 },
    );
  });

  test('refers to the output of a job without a page', async () => {
    const { plan } = await planOf({ manifests: teams(100) });
    expect(planComment(plan, MARKER, { ...ROOM, maxLength: 1500, runUrl: null }, COMMIT)).toContain(
      'the output of the job contains the whole plan',
    );
  });
});

test('without a plan the comment shows the reason as inactive code', () => {
  const say = (text: string) => failureComment(`teams.yaml:1:2: team/a: ${text}`, COMMIT, MARKER, ROOM);
  expect(codeIn(say('no'))).toEqual(['org_1', '  teams.yaml:1:2: team/a: no']);
  fc.assert(
    fc.property(hostile, (parts) => {
      const comment = say(parts.join(''));
      expect(markdownSkeleton(comment)).toBe(markdownSkeleton(say('no')));
      expect(comment).not.toMatch(ACTIVE);
    }),
  );
});
