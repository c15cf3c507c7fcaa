import { afterAll, describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { type Actual, idRef } from '../../src/core/resource.ts';
import { readAll } from '../../src/import/import.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { NAMES } from '../support/certificates.ts';
import { actual, planOf } from '../support/planning.ts';
import { openWorld } from '../support/world.ts';
import { filesAfter, importOf, observationOf } from './importing.ts';

const PEOPLE = { 'ana@acme.example': 'usr_ana' };
const ana = actual('member', 'usr_ana', { role: 'admin', sso: false }, { title: 'ana@acme.example' });
const space = actual('space', 'spc_1', { title: 'One', collection: null });
const at = (list: string, index: number) => ({ within: 'sit_1', place: { list, index } });
const redirect = (id: string, from: string, to: Json, rest: object = {}) =>
  actual('redirect', id, { from, to, draft: false, ...rest }, { title: from, within: 'sit_1', place: null });
const shows = (id: string) => idRef(id, 'space', 'translation');
const rules = (users: readonly string[]) => ({
  type: 'rules',
  rules: [{ rule: 'require_specific_reviewers', users: users.map((id) => idRef(id, 'member')) }],
});

interface Case {
  readonly actuals: readonly Actual[];
  readonly left?: readonly (readonly [title: string, reason: RegExp])[];
  /** Expected anywhere in the files. */
  readonly says?: RegExp;
  readonly never?: RegExp;
}

const cases: Readonly<Record<string, Case>> = {
  'a person without an email address': {
    actuals: [actual('member', 'usr_x', { role: 'read', sso: false }, { title: 'usr_x' })],
    left: [['usr_x', /by email address/]],
  },
  'a team with such a person': {
    actuals: [actual('team', 'tem_1', { title: 'T', members: { '#usr_x': 'member', 'ana@acme.example': 'owner' } })],
    says: /# additive: .* for 1 of its members\n {2}t: \{ title: T, membership: additive, members: \{ ana@acme\.example: owner \} \}/,
  },
  'rules that name such a person': {
    actuals: [actual('space', 'spc_2', { title: 'Two', mergeRules: rules(['usr_ana', 'usr_gone']) })],
    says: /# mergeRules: omitted, because .*\n {2}two: \{ title: Two \}/,
  },
  'rules that this version does not know': {
    actuals: [
      actual('space', 'spc_2', { title: 'Two', mergeRules: { type: 'rules', rules: [{ rule: 'by_moonlight' }] } }),
    ],
    says: /# mergeRules: omitted, because mergeRules\..*\n {2}two: \{ title: Two \}/,
  },
  'an organization that inherits merge rules, and refers to a site that is not there': {
    actuals: [
      actual('organization', 'org_1', {
        mergeRules: { type: 'inherit' },
        defaultContent: idRef('sit_gone', 'site'),
      }),
    ],
    says: /# defaultContent: omitted, because Octavo .*\n(?:.*\n)*? {2}mergeRules: \{ type: inherit \}/,
  },
  'a space in a collection that is not there': {
    actuals: [actual('space', 'spc_2', { title: 'Two', collection: idRef('col_gone', 'collection') })],
    says: /# collection: omitted, because Octavo did not find what it refers to\n {2}two: \{ title: Two \}/,
  },
  'an empty title': {
    actuals: [actual('space', 'spc_2', { title: '', collection: null }, { title: '' })],
    says: /# title: omitted, because it is .*\n {2}space-[0-9a-f]{6}: \{ id: spc_2 \}/s,
  },
  'names with white space around them': {
    actuals: [
      actual('team', 'tem_1', { title: 'Writers\n', members: {} }),
      actual('collection', 'col_1', { title: ' Coll', parent: null }),
      actual('saml', 'saml_1', { label: 'Okta ' }),
      actual('site', 'sit_1', { title: 'Help\u00a0', published: false }),
      actual('section', 'sec_1', { title: 'One ', path: 'a', group: null }, at('sit_1', 0)),
      actual(
        'site-space',
        'ssp_1',
        { space: shows('spc_1'), path: 'b ', section: idRef('sec_1', 'section') },
        { within: 'sit_1', place: { list: 'sec_1', index: 0 } },
      ),
    ],
    says: /# title: omitted, because it has a line break, .*\n.*\n {2}writers: \{ id: tem_1/,
  },
  'redirects that nothing can declare': {
    actuals: [
      actual('site', 'sit_1', { title: 'Help', published: false }),
      actual('section', 'sec_1', { title: 'One', path: 'a', group: null }, at('sit_1', 0)),
      actual(
        'site-space',
        'ssp_1',
        { space: shows('spc_1'), path: 'b', section: idRef('sec_1', 'section') },
        { within: 'sit_1', place: { list: 'sec_1', index: 0 } },
      ),
      redirect('red_1', '/lost', idRef('sec_gone', 'section')),
      redirect('red_2', '/odd', { kind: 'moonlight' }),
      redirect('red_3', '/a%c3%b6', idRef('sec_1', 'section')),
      redirect('red_4', '/both', idRef('sec_1', 'section')),
      redirect('red_5', '/both', idRef('sec_1', 'section'), { draft: true }),
      redirect('red_6', '/secret', 'https://a.example/?token=hunter2hunter2hunter2'),
      redirect('red_7', '/a', idRef('sec_1', 'section')),
      redirect('red_8', '/\u0007bell', idRef('sec_1', 'section')),
      redirect('red_9', '/page', { siteSpace: idRef('ssp_1', 'site-space'), page: 'page_1' }),
    ],
    left: [
      ['/\u0007bell', /^from: .*is not a path on the site/],
      ['/a', /^from: .*leads back to itself/],
      ['/a%c3%b6', /^from: .*has another normal form/],
      ['/secret', /^to: a URL in it holds a password or a token/],
    ],
    says: /redirects:\n {6}- \{ from: \/both, to: \{ section: one \} \}\n {6}- \{ from: \/page, to: \{ siteSpace: one\/b, page: page_1 \} \}\n {4}structure/,
    never: /hunter2|bell|moonlight|from: \/lost|from: \/a\b/,
  },
  'a translation whose result was deleted, or whose source': {
    actuals: [
      actual(
        'translation',
        'trn_1',
        { space: idRef('spc_1', 'space'), from: 'en', to: 'fr' },
        { facts: { lost: 'spc_x' } },
      ),
      actual('translation', 'trn_2', { space: idRef('spc_gone', 'space'), from: 'en', to: 'it' }),
    ],
    left: [
      ['trn_1', /has been deleted; declaring it would run the translation again/],
      ['trn_2', /the space that it translates does not exist/],
    ],
  },
  'a translation that cannot be declared, and the space it made': {
    actuals: [
      actual('translation', 'trn_1', { space: idRef('spc_1', 'space'), from: null, to: 'fr' }, { aliases: ['spc_fr'] }),
      actual('space', 'spc_fr', { title: 'One (fr)', collection: null }),
    ],
    left: [['trn_1', /from/]],
    says: /one-fr: \{ title: One \(fr\) \}/,
  },
  'a title inside a site that is too short': {
    actuals: [
      actual('site', 'sit_1', { title: 'Help', published: false }),
      actual('section', 'sec_1', { title: 'X', path: 'a', group: null }, at('sit_1', 0)),
      actual(
        'site-space',
        'ssp_1',
        { space: shows('spc_1'), path: 'b', section: idRef('sec_1', 'section') },
        { within: 'sit_1', place: { list: 'sec_1', index: 0 } },
      ),
    ],
    says: /# title: omitted, because it is 1 /,
  },
  'a certificate as long as can be': {
    actuals: [actual('saml', 'saml_1', { label: 'Okta', certificate: NAMES.cert.padEnd(10_000, '\nMore') })],
    says: /certificate: \{ file: certs\/okta\.pem \}/,
  },
  'a certificate that is not one': {
    actuals: [actual('saml', 'saml_1', { label: 'Okta', certificate: 'MIIC-certificate' })],
    says: /# certificate: omitted, because it is not a certificate in PEM/,
  },
  'a schema with what does not show': {
    actuals: [
      actual('site', 'sit_1', {
        title: 'Help',
        published: false,
        adaptiveSchema: {
          type: 'object',
          properties: { 'a\u202eb': { type: 'string', description: 'Odd' } },
          additionalProperties: false,
        },
      }),
    ],
    says: /"a\\u202eb"/,
    never: /\u202e/,
  },
  'instructions that Markdown cannot say': {
    actuals: [
      actual(
        'translation',
        'trn_1',
        { space: idRef('spc_1', 'space'), from: 'en', to: 'fr', instructions: '\\\nBe kind&#x20;\n' },
        { aliases: ['spc_fr'] },
      ),
      actual('space', 'spc_fr', { title: 'One (fr)', collection: null }),
    ],
    says: /instructions: \|\n {6}Be kind\n/,
  },
  'an address with a password in it': {
    actuals: [
      actual(
        'openapi',
        'api_1',
        { sourceURL: 'https://bo:hunter2@a.example/x', visibility: 'public' },
        { title: 'pets' },
      ),
    ],
    says: /# its source is a URL with a password or a token, .*\n {2}pets: \{ id: api_1, visibility: public \}/,
    never: /hunter2/,
  },
  'a specification whose source is a file': {
    actuals: [actual('openapi', 'api_1', { sourceURL: null, visibility: 'public' }, { title: 'pets' })],
    says: /# its source is a file, .*\n {2}pets: \{ id: api_1, visibility: public \}/,
  },
  'a space that is not there, on a site': {
    actuals: [
      actual('site', 'sit_1', { title: 'Help', published: false }),
      actual('site-space', 'ssp_1', { space: shows('spc_1'), path: 'a', section: null }, at('sit_1', 0)),
      actual('site-space', 'ssp_2', { space: shows('spc_gone'), path: 'b', section: null }, at('sit_1', 1)),
    ],
    says: /# left out: b, because its space does not exist\n {2}help:/,
  },
  'a value that manifests write otherwise': {
    actuals: [actual('organization', 'org_1', { title: 'Acme', emailDomains: ['ACME.example'], sso: false })],
    says: /# ignore: the current value of emailDomains cannot be declared\n.*emailDomains: \[ ACME\.example \].*ignore: \[ emailDomains \]/s,
  },
  'groups beside site spaces': {
    actuals: [
      actual('site', 'sit_1', { title: 'Help', published: false }),
      actual('site-space', 'ssp_1', { space: shows('spc_1'), path: 'a', section: null }, at('sit_1', 0)),
      actual('section-group', 'grp_1', { title: 'G', icon: null, parent: null }, at('sit_1', 0)),
    ],
    says: /# its section groups are left out/,
  },
};

describe('leaves out and reports what cannot be declared, with an empty plan', () => {
  test.each(Object.entries(cases))('%s', async (_name, { actuals, left = [], says, never }) => {
    const all = [ana, space, ...actuals];
    const imported = await importOf(observationOf(all, PEOPLE));
    expect(imported.omitted.map(({ title, reason }) => [title, reason])).toEqual(
      left.map(([title, reason]) => [title, expect.stringMatching(reason)]),
    );
    const files = filesAfter(imported);
    const text = Object.values(files).join('\n');
    expect(text).toMatch(says ?? /./);
    expect(text).not.toMatch(never ?? /^never$/);
    const { plan } = await planOf({ manifests: files, actuals: all, people: PEOPLE });
    expect(plan.changes.map(({ address, fields }) => [address, fields])).toEqual([]);
  });
});

const world = await openWorld();
afterAll(() => world.close());

describe('kinds that the platform does not return', () => {
  test.each([403, 404])('are reported as missing for status %i', async (status) => {
    world.emulator.setFaults([
      { match: { operation: 'listTranslations' }, times: 9, fault: { kind: 'status', status } },
    ]);
    const { observation, unread } = await readAll(kinds, [], world.reader());
    expect(unread.map(({ kind }) => kind)).toEqual(['translation']);
    expect(Object.keys(filesAfter(await importOf(observation)))).toEqual(['members.yaml', 'organization.yaml']);
  });

  test('report an error for a token that is not accepted', async () => {
    world.emulator.setFaults([{ match: { operation: 'listTeams' }, times: 9, fault: { kind: 'status', status: 401 } }]);
    await expect(readAll(kinds, [], world.reader())).rejects.toMatchObject({ code: 'not-authorized' });
  });
});
