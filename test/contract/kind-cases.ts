import type { World } from '../support/world.ts';

/** What the contract needs to know of one kind. Manifests are sections; `base` is what the kind stands on. */
export interface KindCase {
  readonly kind: string;
  /** What it refers to, the same in every step. */
  readonly base?: string;
  /** The resource as it is created. */
  readonly created: string;
  /** The same key with every field that can change changed. */
  readonly updated: string;
  /** The same key with every field cleared that can be. */
  readonly cleared?: string;
  /** The manifests without it. */
  readonly gone: string;
  readonly address: string;
  /** The operation that creates it, by the platform's own name; null where people or the platform do. */
  readonly createOperation: string | null;
  readonly table:
    | 'teams'
    | 'samlProviders'
    | 'collections'
    | 'spaces'
    | 'specs'
    | 'translations'
    | 'sites'
    | 'sections'
    | 'sectionGroups'
    | 'siteSpaces'
    | 'members'
    | 'organizations';
  /** Changes something by hand that `created` declares. */
  drift(world: World, id: string): Promise<unknown>;
  /** Deletes it by hand; null where nobody can. */
  readonly remove: ((world: World, id: string) => Promise<unknown>) | null;
}

const SPACES = 'spaces: { one: { title: One, language: en }, two: { title: Two, language: de } }\n';
const site = (structure: string) => `${SPACES}sites: { help: { title: Help, structure: ${structure} } }\n`;
const rest = '{ section: rest, title: Rest, spaces: [{ key: e, space: two, path: e }] }';
const siteOf = (world: World) => world.emulator.state().sites?.[0]?.id ?? '';

export const kindCases: readonly KindCase[] = [
  {
    kind: 'organization',
    created:
      'organization: { title: Acme Docs, emailDomains: [acme.example, b.example], defaultRole: read, ai: false, inviteLinks: true, hostname: acme-docs, logo: "https://a.example/l.png" }',
    updated:
      'organization: { title: Acme, emailDomains: [c.example], defaultRole: edit, ai: true, inviteLinks: false, hostname: acme, logo: "https://a.example/m.png", mergeRules: { type: rules, rules: [{ rule: require_specific_reviewers, users: [ana@acme.example] }] } }',
    cleared: 'organization: { defaultRole: null, defaultContent: null, logo: null, mergeRules: { type: none } }',
    gone: 'members: { ana@acme.example: { role: admin } }',
    address: 'organization',
    createOperation: null,
    table: 'organizations',
    drift: (world) => world.call('PATCH', '', { title: 'By hand' }),
    remove: null,
  },
  {
    kind: 'member',
    created: 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: read } }',
    updated: 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: create, sso: true } }',
    cleared: 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: null } }',
    gone: 'members: { ana@acme.example: { role: admin } }',
    address: 'member/bo@acme.example',
    createOperation: null,
    table: 'members',
    drift: (world, id) => world.call('PATCH', `/members/${id}`, { role: 'comment' }),
    remove: (world, id) => world.call('DELETE', `/members/${id}`),
  },
  {
    kind: 'team',
    created: 'teams: { a: { title: A, members: { ana@acme.example: owner, bo@acme.example: member } } }',
    updated: 'teams: { a: { title: B, members: { bo@acme.example: owner, cy@acme.example: member } } }',
    cleared: 'teams: { a: { title: B, members: {} } }',
    gone: 'teams: {}',
    address: 'team/a',
    createOperation: 'createTeam',
    table: 'teams',
    drift: (world, id) =>
      world.call('PUT', `/teams/${id}/members`, { remove: [person(world, 'bo')], add: [person(world, 'cy')] }),
    remove: (world, id) => world.call('DELETE', `/teams/${id}`),
  },
  {
    kind: 'saml',
    base: 'teams: { a: { title: A }, b: { title: B } }\n',
    created:
      'saml: { okta: { label: Okta, entityID: "https://a.example/e", ssoURL: "https://a.example/s", certificate: PEM, defaultTeam: a, defaultRole: read } }',
    updated:
      'saml: { okta: { label: Okta 2, entityID: "https://b.example/e", ssoURL: "https://b.example/s", certificate: PEM 2, defaultTeam: b, defaultRole: edit } }',
    cleared: 'saml: { okta: { label: Okta 2, defaultRole: null } }',
    gone: '',
    address: 'saml/okta',
    createOperation: 'createSamlProvider',
    table: 'samlProviders',
    drift: (world, id) => world.call('PATCH', `/saml/${id}`, { ssoURL: 'https://x.example/s' }),
    remove: (world, id) => world.call('DELETE', `/saml/${id}`),
  },
  {
    kind: 'collection',
    base: '',
    created:
      'collections: { top: { title: Top }, a: { title: A, parent: top, description: What, defaultLevel: read } }',
    updated:
      'collections: { top: { title: Top }, a: { title: B, parent: null, description: More, defaultLevel: edit } }',
    cleared: 'collections: { top: { title: Top }, a: { title: B, parent: null, description: "", defaultLevel: null } }',
    gone: 'collections: { top: { title: Top } }',
    address: 'collection/a',
    createOperation: 'createCollection',
    table: 'collections',
    drift: (world, id) => world.call('POST', `/v1/collections/${id}/move`, { parent: null }),
    remove: (world, id) => world.call('DELETE', `/v1/collections/${id}`),
  },
  {
    kind: 'space',
    base: 'collections: { top: { title: Top } }\n',
    created:
      'spaces: { a: { title: A, collection: top, emoji: "1f4d8", language: en, editMode: locked, defaultLevel: read, mergeRules: { type: none } } }',
    updated:
      'spaces: { a: { title: B, collection: null, emoji: "1f680", language: de, editMode: live, defaultLevel: edit, mergeRules: { type: rules, rules: [{ rule: require_at_least_one_review }] } } }',
    cleared: 'spaces: { a: { title: B, emoji: null, defaultLevel: null, mergeRules: { type: inherit } } }',
    gone: '',
    address: 'space/a',
    createOperation: 'createSpace',
    table: 'spaces',
    drift: (world, id) => world.call('POST', `/v1/spaces/${id}/move`, { parent: null }),
    remove: (world, id) => world.call('DELETE', `/v1/spaces/${id}`),
  },
  {
    kind: 'openapi',
    created: 'openapi: { petstore: { source: { url: "https://a.example/x" }, visibility: public } }',
    updated: 'openapi: { petstore: { source: { url: "https://a.example/y" }, visibility: private } }',
    gone: 'openapi: {}',
    address: 'openapi/petstore',
    createOperation: 'putOpenApiSpec',
    table: 'specs',
    drift: (world) => world.call('PUT', '/openapi/petstore', { source: { url: 'https://a.example/z' } }),
    remove: (world) => world.call('DELETE', '/openapi/petstore'),
  },
  {
    kind: 'translation',
    base: SPACES,
    created: 'translations: { fr: { space: one, from: en, to: fr, instructions: "Be *kind*." } }',
    updated: 'translations: { fr: { space: two, from: de, to: it, instructions: "Be **brief**." } }',
    gone: 'translations: {}',
    address: 'translation/fr',
    createOperation: 'createTranslation',
    table: 'translations',
    drift: (world, id) =>
      world.call('PUT', `/translations/${id}`, { instructions: { object: 'document', data: {}, nodes: [] } }),
    remove: (world, id) => world.call('DELETE', `/translations/${id}`),
  },
  {
    kind: 'site',
    base: SPACES,
    created:
      'sites: { help: { title: Help, visibility: unlisted, published: true, basename: help, proxy: a.example/help, agentsContext: excluded, adaptiveContent: { enabled: true }, adaptiveSchema: { type: object, properties: {}, additionalProperties: false }, default: b, structure: [{ key: a, space: one }, { key: b, space: two }] } }',
    updated:
      'sites: { help: { title: Docs, visibility: public, published: false, basename: docs, proxy: a.example/docs, agentsContext: included, adaptiveContent: { enabled: false }, adaptiveSchema: { type: object, properties: { unsigned: { type: object, description: Unsigned claims of the site visitor., properties: {}, additionalProperties: false } }, additionalProperties: false }, default: a, structure: [{ key: b, space: two }, { key: a, space: one }] } }',
    cleared:
      'sites: { help: { title: Docs, proxy: null, structure: [{ key: b, space: two }, { key: a, space: one }] } }',
    gone: 'sites: {}',
    address: 'site/help',
    createOperation: 'createSite',
    table: 'sites',
    drift: (world, id) => world.call('POST', `/sites/${id}/unpublish`),
    remove: (world, id) => world.call('DELETE', `/sites/${id}`),
  },
  {
    kind: 'section',
    created: site(
      `[{ section: a, title: First, icon: book, path: a, description: What, condition: visitor.x, default: y, spaces: [{ key: x, space: one, path: x }, { key: y, space: two, path: y }] }, ${rest}]`,
    ),
    updated: site(
      `[${rest}, { group: g, title: G, items: [{ section: a, title: Second, icon: star, path: b, description: More, condition: visitor.y, default: x, spaces: [{ key: y, space: two, path: y }, { key: x, space: one, path: x }] }] }]`,
    ),
    cleared: site(
      `[${rest}, { group: g, title: G, items: [{ section: a, title: Second, icon: null, description: null, condition: null, spaces: [{ key: y, space: two, path: y }, { key: x, space: one, path: x }] }] }]`,
    ),
    gone: site(`[${rest}]`),
    address: 'section/help/a',
    createOperation: 'createSection',
    table: 'sections',
    drift: (world, id) =>
      world.call('PATCH', `/sites/${siteOf(world)}/sections/${id}`, { title: 'By hand', path: 'hand' }),
    remove: (world, id) => world.call('DELETE', `/sites/${siteOf(world)}/sections/${id}`),
  },
  {
    kind: 'section-group',
    created: site(`[{ group: a, title: A, icon: code, items: [] }, ${rest}]`),
    updated: site(`[${rest}, { group: o, title: Outer, items: [{ group: a, title: B, icon: star, items: [] }] }]`),
    cleared: site(`[${rest}, { group: o, title: Outer, items: [{ group: a, title: B, icon: null, items: [] }] }]`),
    gone: site(`[${rest}]`),
    address: 'section-group/help/a',
    createOperation: 'createSectionGroup',
    table: 'sectionGroups',
    drift: (world, id) => world.call('PATCH', `/sites/${siteOf(world)}/section-groups/${id}`, { title: 'By hand' }),
    remove: (world, id) => world.call('DELETE', `/sites/${siteOf(world)}/section-groups/${id}`),
  },
  {
    kind: 'site-space',
    created: site(
      '[{ key: b, space: two, path: b }, { key: a, space: one, path: a, condition: visitor.x, hidden: true }]',
    ),
    updated: site(
      '[{ key: a, space: one, path: c, condition: visitor.y, hidden: false }, { key: b, space: two, path: b }]',
    ),
    cleared: site('[{ key: a, space: one, path: c, condition: null }, { key: b, space: two, path: b }]'),
    gone: site('[{ key: b, space: two, path: b }]'),
    address: 'site-space/help/a',
    createOperation: 'addSiteSpace',
    table: 'siteSpaces',
    drift: (world, id) =>
      world.call('PATCH', `/sites/${siteOf(world)}/site-spaces/${id}`, { path: 'hand', hidden: false }),
    remove: (world, id) => world.call('DELETE', `/sites/${siteOf(world)}/site-spaces/${id}`),
  },
];

function person(world: World, name: string): string {
  return world.emulator.state().users?.find((user) => user.email.startsWith(`${name}@`))?.id ?? '';
}
