import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { idRef } from '../../src/core/resource.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { planToJson } from '../../src/plan/render/document.ts';
import { renderPlanMarkdown } from '../../src/plan/render/markdown.ts';
import { accessWords, renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { planContent, WHOLE_PLAN } from '../../src/web/html/changes.ts';
import { NAMES } from '../support/certificates.ts';
import { actual, type PlanCase, planOf } from '../support/planning.ts';

/** Every field of every kind: those that give access, and the others. A new field has to be in one of the lists. */
const FIELDS: Readonly<Record<string, { readonly access: readonly string[]; readonly others: readonly string[] }>> = {
  'agent-instructions': { access: [], others: ['text'] },
  member: { access: ['role', 'sso'], others: [] },
  team: { access: ['members'], others: ['title', 'membership'] },
  saml: { access: ['entityID', 'ssoURL', 'certificate', 'defaultTeam', 'defaultRole'], others: ['label'] },
  collection: {
    access: ['parent', 'defaultLevel', 'permissions.teams', 'permissions.members'],
    others: ['title', 'description', 'permissions.membership'],
  },
  space: {
    access: [
      'collection',
      'editMode',
      'defaultLevel',
      'mergeRules',
      'duplicateOf',
      'permissions.teams',
      'permissions.members',
    ],
    others: ['title', 'emoji', 'icon', 'language', 'permissions.membership'],
  },
  openapi: { access: ['visibility'], others: ['source', 'sourceURL'] },
  // The result is a space of its own, which people can read as its default level and its sites say.
  translation: { access: [], others: ['space', 'from', 'to', 'instructions', 'rerun', 'run'] },
  site: {
    access: [
      'visibility',
      'published',
      'agentsContext',
      'adaptiveContent',
      'adaptiveSchema',
      'defaultLevel',
      'permissions.teams',
      'permissions.members',
      'visitorAuth',
    ],
    // A proxy is another address of the site, for the same readers.
    others: [
      ...['title', 'type', 'basename', 'proxy', 'permissions.membership', 'customization'],
      ...['default', 'structure', 'sections'],
    ],
  },
  'mcp-server': { access: [], others: ['name', 'url', 'headers', 'headerNames', 'transport', 'condition'] },
  'share-link': { access: ['active'], others: ['name'] },
  section: {
    access: ['condition', 'draft'],
    others: [
      ...['title', 'localizedTitle', 'icon', 'path', 'description', 'localizedDescription'],
      ...['default', 'group', 'spaces', 'formerPaths'],
    ],
  },
  'section-group': { access: ['draft'], others: ['title', 'localizedTitle', 'icon', 'parent'] },
  'external-link': {
    access: ['condition', 'draft'],
    others: ['title', 'localizedTitle', 'url', 'icon', 'description', 'localizedDescription', 'group'],
  },
  'site-space': { access: ['space', 'condition', 'hidden', 'draft'], others: ['path', 'formerPaths', 'section'] },
  redirect: { access: [], others: ['from', 'to', 'permanent', 'captureWildcard', 'draft'] },
  organization: {
    access: ['emailDomains', 'defaultRole', 'sso', 'inviteLinks', 'mergeRules'],
    others: ['title', 'hostname', 'defaultContent', 'logo', 'ai'],
  },
};

test('every field of a kind is known to give access, or not to', () => {
  const listed = kinds.map(({ name, fields }) => {
    const named = Object.keys(fields);
    const access = named.filter((path) => fields[path]?.access !== undefined);
    return [name, { access, others: named.filter((path) => !access.includes(path)) }];
  });
  expect(Object.fromEntries(listed)).toEqual(FIELDS);
});

const SAML = { label: 'Okta', entityID: 'https://a.example/e', ssoURL: 'https://a.example/s', certificate: 'sha256:1' };
const saml = (fields: object = {}) =>
  actual('saml', 'p1', { ...SAML, defaultTeam: null, defaultRole: null, ...fields });
const organization = (fields: object) =>
  actual('organization', 'org_1', { title: 'Acme', emailDomains: [], defaultRole: null, sso: false, ...fields });
const space = (fields: object = {}) => actual('space', 's1', { title: 'One', collection: null, ...fields });
const site = (fields: object = {}) =>
  actual('site', 'w1', { title: 'Help', visibility: 'public', published: true, ...fields });
const siteSpace = (fields: object = {}) =>
  actual(
    'site-space',
    'e1',
    { space: idRef('s1', 'space'), section: null, path: 'one', condition: null, hidden: false, ...fields },
    { within: 'w1', place: { list: 'w1', index: 0 } },
  );
const collection = (fields: object = {}) => actual('collection', 'c1', { title: 'C', parent: null, ...fields });
const SHOWN = (rest = '', siteRest = '') =>
  `spaces: { one: { title: One } }\nsites: { help: { title: Help${siteRest}, structure: [{ key: one, space: one, path: one${rest} }] } }`;
const SECTIONS = (rest = '') =>
  `spaces: { one: { title: One } }\nsites: { help: { title: Help, structure: [{ section: a, title: First, path: first${rest}, spaces: [{ key: one, space: one, path: one }] }] } }`;
const section = (fields: object = {}) => [
  space(),
  site(),
  actual(
    'section',
    'x1',
    { title: 'First', group: null, path: 'first', condition: null, default: idRef('e1', 'site-space'), ...fields },
    { within: 'w1', place: { list: 'w1', index: 0 } },
  ),
  actual(
    'site-space',
    'e1',
    { space: idRef('s1', 'space'), section: idRef('x1', 'section'), path: 'one' },
    { within: 'w1', place: { list: 'x1', index: 0 } },
  ),
];
const siteOf = (rest: string) => `sites: { help: { title: Help${rest} } }`;
const spaceOf = (rest: string) => `spaces: { one: { title: One, ${rest} } }`;

/** Roles of a team and of people in a resource: given, changed and taken away. */
function permissionRows(address: 'collection/c' | 'space/one' | 'site/help'): typeof ROWS {
  const [kind = ''] = address.split('/');
  const of = {
    'collection/c': [(rest: string) => `collections: { c: { title: C, ${rest} } }`, collection],
    'space/one': [spaceOf, space],
    'site/help': [(rest: string) => siteOf(`, ${rest}`), site],
  } as const;
  const [manifestOf, actualOf] = of[address];
  const teams = 'teams: { writers: { title: Writers } }';
  const team = (role: string) => ({ 'permissions.teams': [{ team: idRef('t1', 'team'), role }] });
  const known = actual('team', 't1', { title: 'Writers' });
  return [
    [
      `${kind}.permissions.teams: a team gains a role, another loses one`,
      {
        manifests: `${teams}\n${manifestOf('permissions: { teams: { writers: edit } }')}`,
        actuals: [known, actualOf({ 'permissions.teams': [{ team: idRef('t2', 'team'), role: 'admin' }] })],
      },
      [
        `everyone in team/writers gains access to ${address} (edit)`,
        `everyone in #t2 loses access to ${address} (admin)`,
      ],
    ],
    [
      `${kind}.permissions.teams: others stay`,
      {
        manifests: `${teams}\n${manifestOf('permissions: { membership: additive, teams: {} }')}`,
        actuals: [known, actualOf(team('edit'))],
      },
      [],
    ],
    [
      `${kind}.permissions.teams: of a new team`,
      {
        manifests: `${teams}\n${manifestOf('permissions: { teams: { writers: read } }')}`,
        actuals: [actualOf({ 'permissions.teams': [] })],
      },
      [`everyone in team/writers gains access to ${address} (read)`],
    ],
    [
      `${kind}.permissions.members`,
      {
        manifests: manifestOf('permissions: { members: { Bo@acme.example: read, cy@acme.example: edit } }'),
        actuals: [actualOf({ 'permissions.members': { 'ana@acme.example': 'admin', 'bo@acme.example': 'edit' } })],
      },
      [
        `ana@acme.example loses access to ${address} (admin)`,
        `bo@acme.example has other access to ${address} (edit → read)`,
        `cy@acme.example gains access to ${address} (edit)`,
      ],
    ],
    [
      `${kind}.permissions.members: the default level stays`,
      {
        manifests: manifestOf('defaultLevel: read, permissions: { teams: {}, members: {} }'),
        actuals: [
          actualOf({
            defaultLevel: 'read',
            'permissions.members': { 'ana@acme.example': 'edit' },
            'permissions.teams': [{ team: idRef('t2', 'team'), role: 'edit' }],
          }),
        ],
      },
      [
        `everyone in #t2 loses access to ${address} (edit; everyone keeps read)`,
        `ana@acme.example loses access to ${address} (edit; everyone keeps read)`,
      ],
    ],
  ];
}

/** The change of a field, and the lines about access that it causes. */
/** A site with a section, a group, and a link in it. */
const LINKED = (link = '', draft = 'true') =>
  SECTIONS().replace(
    /\]\s*\}\s*\}\s*$/,
    `, { group: g, title: G, draft: ${draft}, items: [{ link: l, title: Link, url: 'https://a.example'${link} }] }] } }`,
  );
const linked = (link: object = {}, group: object = { draft: true }) => [
  ...section(),
  actual(
    'section-group',
    'g1',
    { title: 'G', icon: null, parent: null, ...group },
    { within: 'w1', place: { list: 'w1', index: 1 } },
  ),
  actual(
    'external-link',
    'l1',
    { title: 'Link', url: 'https://a.example', group: idRef('g1', 'section-group'), ...link },
    { within: 'w1', place: { list: 'g1', index: 0 } },
  ),
];

const ROWS: readonly (readonly [string, PlanCase, readonly string[]])[] = [
  [
    'site.visibility: share-link to public',
    { manifests: siteOf(', visibility: public'), actuals: [site({ visibility: 'share-link' })] },
    [
      'everyone on the internet gains access to site/help (read, found by search engines; before only everyone with the secret link)',
    ],
  ],
  [
    'site.visibility: visitor authentication turned off',
    { manifests: siteOf(', visibility: unlisted'), actuals: [site({ visibility: 'visitor-auth' })] },
    ['everyone on the internet gains access to site/help (read; before only every visitor with a token)'],
  ],
  [
    'site.visibility: a token instead of a link',
    { manifests: siteOf(', visibility: visitor-auth'), actuals: [site({ visibility: 'share-link' })] },
    [
      'every visitor with a token gains access to site/help (read)',
      'everyone with the secret link loses access to site/help (read)',
    ],
  ],
  [
    'site.visibility: of a site that is not published',
    { manifests: siteOf(', visibility: public'), actuals: [site({ visibility: 'share-link', published: false })] },
    [
      'everyone on the internet gains access to site/help (read, found by search engines, once it is published; before only everyone with the secret link)',
    ],
  ],
  [
    'site.visibility: created public and published',
    {
      manifests: SHOWN('', ', visibility: public, published: true'),
      actuals: [space()],
    },
    ['everyone on the internet gains access to site/help (read, found by search engines)'],
  ],
  [
    'site.visibility: deleted',
    {
      manifests: 'sites: {}',
      base: siteOf(''),
      actuals: [site()],
    },
    ['everyone on the internet loses access to site/help (read, found by search engines)'],
  ],
  [
    'site.published: turned on',
    { manifests: siteOf(', published: true'), actuals: [site({ published: false })] },
    ['everyone on the internet gains access to site/help (read, found by search engines)'],
  ],
  [
    'site.published: turned off',
    { manifests: siteOf(', published: false'), actuals: [site({ visibility: 'visitor-auth' })] },
    ['every visitor with a token loses access to site/help (read)'],
  ],
  [
    'site.agentsContext',
    { manifests: siteOf(', agentsContext: included'), actuals: [site({ agentsContext: 'excluded' })] },
    ['the agent gains access to site/help (read)'],
  ],
  [
    'site.visitorAuth',
    {
      manifests: siteOf(', visitorAuth: { backend: custom, fallbackURL: "https://b.example" }'),
      actuals: [site({ visitorAuth: { backend: 'custom', fallbackURL: 'https://a.example', logoutURL: null } })],
    },
    [
      'visitors who sign in have other access to site/help (signs in through custom, fallbackURL "https://a.example" → signs in through custom, fallbackURL "https://b.example")',
    ],
  ],
  [
    'share-link.active',
    { manifests: siteOf(', shareLinks: { a: { name: A } }'), actuals: [site({})] },
    ['everyone with the share link "A" gains access to share-link/help/a (read)'],
  ],
  [
    'site.adaptiveContent',
    { manifests: siteOf(', adaptiveContent: { enabled: false }'), actuals: [site({ adaptiveContent: true })] },
    ['visitors whom a condition excludes have other access to site/help (conditions apply → conditions do not apply)'],
  ],
  [
    'site.adaptiveSchema',
    {
      manifests: siteOf(', adaptiveSchema: { type: object, properties: {}, additionalProperties: false }'),
      actuals: [site({ adaptiveSchema: null })],
    },
    ['visitors, by their claims have other access to site/help (no schema → schema 99334726611c)'],
  ],
  [
    'site-space.condition: removed',
    { manifests: SHOWN(', condition: null'), actuals: [space(), site(), siteSpace({ condition: 'visitor.x' })] },
    ['every visitor gains access to site-space/help/one (read; before only visitors who match "visitor.x")'],
  ],
  [
    'section.condition: set',
    { manifests: SECTIONS(', condition: visitor.x'), actuals: section() },
    ['every visitor loses access to section/help/a (read; now only visitors who match "visitor.x")'],
  ],
  [
    'section.condition: deleted with a section',
    {
      manifests: `spaces: { one: { title: One } }\n${siteOf('')}`,
      base: SECTIONS(),
      actuals: section(),
    },
    ['everyone on the internet loses access to section/help/a (read)'],
  ],
  [
    'section.draft: launched',
    { manifests: SECTIONS(', draft: false'), actuals: section({ draft: true }) },
    ['everyone on the internet gains access to section/help/a (read)'],
  ],
  [
    'site-space.draft: set',
    { manifests: SHOWN(', draft: true'), actuals: [space(), site(), siteSpace({ draft: false })] },
    ['everyone on the internet loses access to site-space/help/one (read)'],
  ],
  [
    'site-space.draft: launched on a site that is not published',
    { manifests: SHOWN(', draft: false'), actuals: [space(), site({ published: false }), siteSpace({ draft: true })] },
    [],
  ],
  ['site-space.draft: created', { manifests: SHOWN(', draft: true'), actuals: [space(), site()] }, []],
  [
    'section-group.draft: launched',
    { manifests: LINKED('', 'false'), actuals: linked({}, { draft: true }) },
    ['everyone on the internet gains access to section-group/help/g (read)'],
  ],
  [
    'external-link.draft: launched',
    { manifests: LINKED(', draft: false'), actuals: linked({ draft: true }) },
    ['everyone on the internet gains access to external-link/help/l (read)'],
  ],
  [
    'external-link.condition: set',
    { manifests: LINKED(', condition: visitor.x'), actuals: linked({ condition: null }) },
    ['every visitor loses access to external-link/help/l (read; now only visitors who match "visitor.x")'],
  ],
  [
    'site-space.hidden',
    { manifests: SHOWN(', hidden: true'), actuals: [space(), site(), siteSpace()] },
    ['visitors lose access to site-space/help/one (shown in navigation)'],
  ],
  [
    'site-space.space: shown on a published site',
    { manifests: SHOWN(), actuals: [space(), site({ visibility: 'unlisted' })] },
    ['everyone on the internet gains access to space/one (read at site/help)'],
  ],
  [
    'site-space.space: shown on a published site to some',
    { manifests: SHOWN(', condition: visitor.x'), actuals: [space(), site()] },
    ['everyone on the internet, if they match "visitor.x" gains access to space/one (read at site/help)'],
  ],
  [
    'site-space.space: shown on a site that is not published',
    { manifests: SHOWN(), actuals: [space(), site({ published: false })] },
    [],
  ],
  [
    'site-space.space: removed',
    {
      manifests: `spaces: { one: { title: One } }\n${siteOf('')}`,
      base: SHOWN(),
      actuals: [space(), site(), siteSpace()],
    },
    ['everyone on the internet loses access to space/one (read at site/help)'],
  ],
  [
    'openapi.visibility',
    {
      manifests: 'openapi: { pets: { source: { url: https://a.example/x }, visibility: public } }',
      actuals: [
        actual('openapi', 'o1', { sourceURL: 'https://a.example/x', visibility: 'private' }, { title: 'pets' }),
      ],
    },
    ['everyone with the link gains access to openapi/pets (read)'],
  ],
  [
    'collection.defaultLevel',
    {
      manifests: 'collections: { c: { title: C, defaultLevel: read } }',
      actuals: [collection({ defaultLevel: null })],
    },
    ['everyone in the organization gains access to collection/c (read)'],
  ],
  [
    'space.defaultLevel: raised',
    { manifests: spaceOf('defaultLevel: edit'), actuals: [space({ defaultLevel: 'inherit' })] },
    ['everyone in the organization has other access to space/one (as its parent allows → edit)'],
  ],
  [
    'site.defaultLevel',
    { manifests: siteOf(', defaultLevel: null'), actuals: [site({ defaultLevel: 'inherit' })] },
    ['everyone in the organization loses access to site/help (as its parent allows)'],
  ],
  ...(['collection/c', 'space/one', 'site/help'] as const).flatMap(permissionRows),
  [
    'collection.parent',
    {
      manifests: 'collections: { top: { title: Top }, c: { title: C, parent: top } }',
      actuals: [collection(), actual('collection', 'c2', { title: 'Top', parent: null })],
    },
    ['everyone who has access to collection/top gains access to collection/c (inherited)'],
  ],
  [
    'space.collection',
    { manifests: spaceOf('collection: null'), actuals: [space({ collection: idRef('c9', 'collection') })] },
    ['everyone who has access to #c9 loses access to space/one (inherited)'],
  ],
  [
    'space.editMode',
    { manifests: spaceOf('editMode: live'), actuals: [space({ editMode: 'locked' })] },
    ['everyone who can edit gains access to space/one (edit without a change request)'],
  ],
  [
    'space.mergeRules',
    {
      manifests: spaceOf('mergeRules: { type: none }'),
      actuals: [space({ mergeRules: { type: 'rules', rules: [{ rule: 'require_agent_review' }] } })],
    },
    [
      'everyone who merges change requests has other access to space/one (merge under require_agent_review → merge without conditions)',
    ],
  ],
  [
    'space.duplicateOf',
    {
      manifests: 'spaces: { one: { title: One }, copy: { title: Copy, duplicateOf: one } }',
      actuals: [space()],
    },
    ['everyone who has access to space/copy gains access to space/one (read its copy)'],
  ],
  [
    'organization.emailDomains',
    {
      manifests: 'organization: { emailDomains: [acme.example, b.example] }',
      actuals: [organization({ emailDomains: ['c.example', 'b.example'], defaultRole: 'read' })],
    },
    [
      'people of acme.example gain access to the organization (can join as read)',
      'people of c.example lose access to the organization (can join as read)',
    ],
  ],
  [
    'organization.defaultRole',
    {
      manifests: 'organization: { defaultRole: edit }',
      actuals: [organization({ emailDomains: ['acme.example'] })],
    },
    [
      'people of acme.example have other access to the organization (can join as guest → can join as edit)',
      'everyone who joins has other access to the organization (guest → edit)',
    ],
  ],
  [
    'organization.sso',
    { manifests: 'organization: { sso: false }', actuals: [organization({ sso: true })] },
    ['people without single sign-on gain access to the organization (sign in)'],
  ],
  [
    'organization.inviteLinks',
    { manifests: 'organization: { inviteLinks: true }', actuals: [organization({ inviteLinks: false })] },
    ['everyone with an invite link gains access to the organization (can join)'],
  ],
  [
    'organization.mergeRules',
    {
      manifests:
        'organization: { mergeRules: { type: rules, rules: [{ rule: require_specific_reviewers, users: [ana@acme.example] }] } }',
      actuals: [organization({ mergeRules: { type: 'none' } })],
    },
    [
      'everyone who merges change requests has other access to the organization (merge without conditions → merge under require_specific_reviewers ana@acme.example)',
    ],
  ],
  [
    'saml.ssoURL',
    { manifests: 'saml: { okta: { label: Okta, ssoURL: https://b.example/s } }', actuals: [saml()] },
    [
      'everyone who signs in through saml/okta has other access to the organization (ssoURL "https://a.example/s" → ssoURL "https://b.example/s")',
    ],
  ],
  [
    'saml.entityID',
    { manifests: 'saml: { okta: { label: Okta, entityID: https://b.example/e } }', actuals: [saml()] },
    [
      'everyone who signs in through saml/okta has other access to the organization (entityID "https://a.example/e" → entityID "https://b.example/e")',
    ],
  ],
  [
    'saml.certificate',
    {
      manifests: `saml: { okta: { label: Okta, certificate: ${JSON.stringify(NAMES.cert)} } }`,
      actuals: [saml({ certificate: `sha256:${'1'.repeat(64)}` })],
    },
    [
      `everyone who signs in through saml/okta has other access to the organization (certificate "sha256:${'1'.repeat(64)}" → certificate "sha256:${createHash('sha256').update(NAMES.cert.trim()).digest('hex')}")`,
    ],
  ],
  [
    'saml.defaultTeam',
    {
      manifests: 'teams: { b: { title: B } }\nsaml: { okta: { label: Okta, defaultTeam: b } }',
      actuals: [saml(), actual('team', 't1', { title: 'B' })],
    },
    ['everyone who signs in through saml/okta gains access to team/b (member)'],
  ],
  [
    'saml.defaultRole',
    { manifests: 'saml: { okta: { label: Okta, defaultRole: admin } }', actuals: [saml()] },
    ['everyone who signs in through saml/okta has other access to the organization (guest → admin)'],
  ],
  [
    'saml.defaultRole: a new provider',
    { manifests: 'saml: { okta: { label: Okta, defaultRole: read } }' },
    ['everyone who signs in through saml/okta gains access to the organization (read)'],
  ],
  [
    'member.sso',
    {
      manifests: 'members: { ana@acme.example: { role: admin, sso: true } }',
      actuals: [actual('member', 'usr_ana', { role: 'admin', sso: false }, { title: 'ana@acme.example' })],
    },
    ['ana@acme.example loses access to the organization (sign in without single sign-on)'],
  ],
  [
    'member.role',
    {
      manifests: 'members: { ana@acme.example: { role: edit } }',
      actuals: [actual('member', 'usr_ana', { role: 'read', sso: false }, { title: 'ana@acme.example' })],
    },
    ['ana@acme.example changes role in the organization (read → edit)'],
  ],
  [
    'team.members',
    {
      manifests: 'teams: { b: { title: B, members: { ana@acme.example: member } } }',
      actuals: [actual('team', 't1', { title: 'B', members: {} })],
    },
    ['ana@acme.example joins team/b (member)'],
  ],
];

describe('access in a plan', () => {
  test.each(ROWS)('%s', async (_name, input, expected) => {
    const { plan } = await planOf(input);
    expect(plan.access.map(accessWords)).toEqual(expected);
  });

  test('is in the document of the plan and in every rendering, escaped and without secrets', async () => {
    const { plan } = await planOf({
      manifests: `${SHOWN(', condition: "visitor.x \\u202e::warning"')}
saml: { okta: { label: Okta, ssoURL: "https://u:hunter22@b.example/s" } }`,
      actuals: [space(), site(), siteSpace(), saml()],
    });
    const condition = 'now only visitors who match "visitor.x \\u202e::warning"';
    const wrapped = renderPlanText(plan, { columns: 1000, paint: PLAIN });
    const page = planContent('acme', plan, { commit: () => null, file: () => null }, WHOLE_PLAN, () => null);
    const comment = renderPlanMarkdown(plan);
    expect(comment).toContain(
      '**Takes access from `every visitor`, changes access of `everyone who signs in through saml/okta`**',
    );
    for (const text of [wrapped, comment.replaceAll('\n!   ', ' '), page.access.map(({ text }) => text).join('\n')]) {
      expect(text).toContain(`every visitor loses access to site-space/help/one (read; ${condition})`);
      expect(text).toContain('everyone who signs in through saml/okta has other access to the organization');
      expect(text).not.toContain('hunter22');
    }
    expect(page.access.map(({ effect }) => effect)).toEqual(['changes', 'loses']);
    expect(planToJson(plan)).toMatchObject({
      access: [
        { person: 'everyone who signs in through saml/okta', field: 'ssoURL', change: 'saml/okta' },
        { person: 'every visitor', from: 'site-space/help/one', to: null, field: 'condition' },
      ],
    });
    expect(JSON.stringify(planToJson(plan))).not.toContain('hunter22');
  });

  test('of everyone on the internet comes first, then that of other groups, then that of persons', async () => {
    const { plan } = await planOf({
      manifests: `spaces: { one: { title: One, defaultLevel: read }, two: { title: Two, defaultLevel: read } }
teams: { b: { title: B, members: { ana@acme.example: member, bo@acme.example: member } } }
${siteOf(', visibility: unlisted')}`,
      actuals: [site({ visibility: 'visitor-auth' })],
    });
    const text = renderPlanText(plan, { columns: 1000, paint: PLAIN });
    const rows = /^Access (.*(?:\n {10}.*)*)/m.exec(text)?.[1] ?? '';
    expect(rows.split('\n').map((row) => row.trim())).toEqual([
      'everyone on the internet gains access to site/help (read; before only every visitor with a token)',
      'everyone in the organization gains access to space/one, space/two (read)',
      'ana@acme.example joins team/b (member)',
      'bo@acme.example joins team/b (member)',
    ]);
  });

  test('is not listed for a space that stays on a site in another place', async () => {
    const { plan } = await planOf({
      manifests: SECTIONS(', condition: null'),
      base: SHOWN(),
      ids: { 'site-space/help/one': 'e1' },
      actuals: [space(), site(), siteSpace()],
    });
    expect(plan.access).toEqual([]);
  });

  test('is tested for every field that gives access', () => {
    const tested = new Set(ROWS.map(([name]) => name.split(':')[0]));
    const all = Object.entries(FIELDS).flatMap(([kind, { access }]) => access.map((path) => `${kind}.${path}`));
    expect([...tested].sort()).toEqual(all.sort());
  });
});
