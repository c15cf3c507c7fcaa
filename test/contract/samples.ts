/** Samples of all kinds, for the tests that every kind has to pass. */
import type { Json } from '../../src/core/json.ts';

/** Request of another client. `{id}` stands for the id of the resource, `{site}` for the id of its site. */
export type SampleRequest = readonly [method: string, path: string, body?: Json];

/**
 * A sample resource of a kind. Manifests are written as sections. Its key is the same in every step, and the operations
 * that create and delete it are those of `Kind.writes`.
 */
export interface KindSample {
  /** Manifests of what the resource refers to. They are part of every step. */
  readonly base?: string;
  /** The resource as it is created. Default: the example of the kind. */
  readonly created?: string;
  /** The same key, with every changeable field changed. */
  readonly updated: string;
  /** The same key, with every clearable field cleared. */
  readonly cleared?: string;
  /** The manifests without the resource. Default: `base` alone. */
  readonly gone?: string;
  /**
   * First version of the platform that has the kind, such as `0.201`. Default: the oldest version that can be emulated.
   */
  readonly since?: string;
  /** A later version that has fields which that one lacks: the contract holds for the sample there, too. */
  readonly also?: string;
  /** List of the embedded platform's state that holds such resources. */
  readonly storedIn: string;
  /** A request of another client that changes a field of the resource as it is created. */
  readonly drift: SampleRequest;
}

/** Two spaces to refer to. */
const SPACES_SAMPLE = 'spaces: { one: { title: One, language: en }, two: { title: Two, language: de } }\n';

/** Teams to give roles to. */
const TEAMS_SAMPLE = 'teams: { writers: { title: Writers }, support: { title: Support } }\n';

/** A section that is the same in every step. */
const REST_SAMPLE = '{ section: rest, title: Rest, spaces: [{ key: e, space: two, path: e }] }';

/** A site with this structure, and the spaces that it can show. */
function siteSample(structure: string): string {
  return `${SPACES_SAMPLE}sites: { help: { title: Help, structure: ${structure} } }\n`;
}

/** A site with two sections and these redirects. */
function redirectSample(redirects: string): string {
  const section = '{ section: a, title: First, path: a, spaces: [{ key: x, space: one, path: x }] }';
  return siteSample(`[${section}, ${REST_SAMPLE}], redirects: [${redirects}]`);
}

/** The sample of each kind of the registry. */
export const kindSamples: Readonly<Record<string, KindSample>> = {
  member: {
    created: 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: read } }',
    updated: 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: create, sso: true } }',
    cleared: 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: null } }',
    gone: 'members: { ana@acme.example: { role: admin } }',
    storedIn: 'members',
    drift: ['PATCH', '/members/{id}', { role: 'comment' }],
  },
  team: {
    created: 'teams: { a: { title: A, members: { ana@acme.example: owner, bo@acme.example: member } } }',
    updated: 'teams: { a: { title: B, members: { bo@acme.example: owner, cy@acme.example: member } } }',
    cleared: 'teams: { a: { title: B, members: {} } }',
    storedIn: 'teams',
    drift: ['PUT', '/teams/{id}/members', { remove: ['{bo}'], add: ['{cy}'] }],
  },
  saml: {
    base: 'teams: { writers: { title: A }, b: { title: B } }',
    updated:
      'saml: { okta: { label: Okta 2, entityID: "https://b.example/e", ssoURL: "https://b.example/s", certificate: { file: certs/next.pem }, defaultTeam: b, defaultRole: edit } }',
    cleared: 'saml: { okta: { label: Okta 2, defaultRole: null } }',
    storedIn: 'samlProviders',
    drift: ['PATCH', '/saml/{id}', { ssoURL: 'https://x.example/s' }],
  },
  collection: {
    base: TEAMS_SAMPLE,
    created:
      'collections: { top: { title: Top }, a: { title: A, parent: top, description: What, defaultLevel: read, permissions: { teams: { writers: edit }, members: { bo@acme.example: create } } } }',
    updated:
      'collections: { top: { title: Top }, a: { title: B, parent: null, description: More, defaultLevel: edit, permissions: { membership: additive, teams: { writers: review, support: read }, members: { cy@acme.example: create } } } }',
    cleared:
      'collections: { top: { title: Top }, a: { title: B, parent: null, description: "", defaultLevel: null, permissions: { teams: {}, members: {} } } }',
    gone: 'collections: { top: { title: Top } }',
    storedIn: 'collections',
    drift: ['POST', '/v1/collections/{id}/move', { parent: null }],
  },
  space: {
    base: `${TEAMS_SAMPLE}collections: { top: { title: Top } }`,
    created:
      'spaces: { a: { title: A, collection: top, emoji: "1f4d8", language: en, editMode: locked, defaultLevel: read, mergeRules: { type: none }, permissions: { teams: { writers: edit, support: edit }, members: { ana@acme.example: review, bo@acme.example: read } } } }',
    updated:
      'spaces: { a: { title: B, collection: null, icon: "https://a.example/i.png", language: de, editMode: live, defaultLevel: edit, mergeRules: { type: rules, rules: [{ rule: require_at_least_one_review }] }, permissions: { teams: { writers: create }, members: { bo@acme.example: comment, cy@acme.example: read } } } }',
    cleared:
      'spaces: { a: { title: B, emoji: null, icon: null, defaultLevel: null, mergeRules: { type: inherit }, permissions: { teams: {}, members: {} } } }',
    storedIn: 'spaces',
    drift: ['POST', '/v1/spaces/{id}/move', { parent: null }],
  },
  openapi: {
    created: 'openapi: { petstore: { source: { url: "https://a.example/x" }, visibility: public } }',
    updated: 'openapi: { petstore: { source: { url: "https://a.example/y" }, visibility: private } }',
    storedIn: 'specs',
    drift: ['PUT', '/openapi/petstore', { source: { url: 'https://a.example/z' } }],
  },
  translation: {
    base: 'spaces: { one: { title: One, language: en }, two: { title: Two, language: de } }',
    created: 'translations: { fr: { space: one, from: en, to: fr, instructions: "Be *kind*." } }',
    updated: 'translations: { fr: { space: two, from: de, to: it, instructions: "Be **brief**." } }',
    storedIn: 'translations',
    drift: ['PUT', '/translations/{id}', { instructions: { object: 'document', data: {}, nodes: [] } }],
  },
  site: {
    base: `${TEAMS_SAMPLE}${SPACES_SAMPLE}`,
    created:
      'sites: { help: { title: Help, visibility: unlisted, published: true, basename: help, proxy: a.example/help, agentsContext: excluded, defaultLevel: read, permissions: { teams: { writers: edit }, members: { bo@acme.example: read } }, adaptiveContent: { enabled: true }, adaptiveSchema: { type: object, properties: {}, additionalProperties: false }, default: b, structure: [{ key: a, space: one }, { key: b, space: two }] } }',
    updated:
      'sites: { help: { title: Docs, visibility: public, published: false, basename: docs, proxy: a.example/docs, agentsContext: included, defaultLevel: null, permissions: { teams: { writers: create, support: read }, members: { cy@acme.example: read } }, adaptiveContent: { enabled: false }, adaptiveSchema: { type: object, properties: { unsigned: { type: object, description: Unsigned claims of the site visitor., properties: {}, additionalProperties: false } }, additionalProperties: false }, default: a, structure: [{ key: b, space: two }, { key: a, space: one }] } }',
    cleared:
      'sites: { help: { title: Docs, proxy: null, permissions: { teams: {}, members: {} }, structure: [{ key: b, space: two }, { key: a, space: one }] } }',
    also: '0.202',
    storedIn: 'sites',
    drift: ['POST', '/sites/{id}/unpublish'],
  },
  'mcp-server': {
    created:
      'sites: { help: { title: Help, structure: [], mcpServers: { a: { name: A, url: "https://mcp.acme.example/a", headers: { X-Team: docs } } } } }',
    updated:
      'sites: { help: { title: Help, structure: [], mcpServers: { a: { name: B, url: "https://mcp.acme.example/b", headers: { X-Team: web, X-Site: help } } } } }',
    cleared:
      'sites: { help: { title: Help, structure: [], mcpServers: { a: { name: B, url: "https://mcp.acme.example/b", headers: {} } } } }',
    gone: 'sites: { help: { title: Help, structure: [] } }',
    storedIn: 'mcpServers',
    drift: ['PATCH', '/sites/{site}/mcp-servers/{id}', { name: 'Drifted' }],
  },
  'share-link': {
    created:
      'sites: { help: { title: Help, structure: [], shareLinks: { a: { name: A, active: true }, b: { name: B } } } }',
    updated:
      'sites: { help: { title: Help, structure: [], shareLinks: { a: { name: C, active: false }, b: { name: B } } } }',
    gone: 'sites: { help: { title: Help, structure: [], shareLinks: { b: { name: B } } } }',
    storedIn: 'shareLinks',
    drift: ['PATCH', '/sites/{site}/share-links/{id}', { active: false }],
  },
  section: {
    created: siteSample(
      `[{ section: a, title: First, icon: book, path: a, description: What, condition: visitor.x, default: y, spaces: [{ key: x, space: one, path: x }, { key: y, space: two, path: y }] }, ${REST_SAMPLE}]`,
    ),
    updated: siteSample(
      `[${REST_SAMPLE}, { group: g, title: G, items: [{ section: a, title: Second, icon: star, path: b, description: More, condition: visitor.y, default: x, spaces: [{ key: y, space: two, path: y }, { key: x, space: one, path: x }] }] }]`,
    ),
    cleared: siteSample(
      `[${REST_SAMPLE}, { group: g, title: G, items: [{ section: a, title: Second, icon: null, description: null, condition: null, spaces: [{ key: y, space: two, path: y }, { key: x, space: one, path: x }] }] }]`,
    ),
    gone: siteSample(`[${REST_SAMPLE}]`),
    storedIn: 'sections',
    drift: ['PATCH', '/sites/{site}/sections/{id}', { title: 'Drifted', path: 'drifted' }],
  },
  'section-group': {
    created: siteSample(`[{ group: a, title: A, icon: code, items: [] }, ${REST_SAMPLE}]`),
    updated: siteSample(
      `[${REST_SAMPLE}, { group: o, title: Outer, items: [{ group: a, title: B, icon: star, items: [] }] }]`,
    ),
    cleared: siteSample(
      `[${REST_SAMPLE}, { group: o, title: Outer, items: [{ group: a, title: B, icon: null, items: [] }] }]`,
    ),
    gone: siteSample(`[${REST_SAMPLE}]`),
    storedIn: 'sectionGroups',
    drift: ['PATCH', '/sites/{site}/section-groups/{id}', { title: 'Drifted' }],
  },
  'external-link': {
    created: siteSample(
      `[{ link: a, title: First, localizedTitle: { fr: Premier }, url: "https://a.example/x", icon: book, description: What, localizedDescription: { fr: Quoi }, condition: visitor.x, draft: true }, { group: g, title: G, items: [] }, ${REST_SAMPLE}]`,
    ),
    updated: siteSample(
      `[${REST_SAMPLE}, { group: g, title: G, items: [{ link: a, title: Second, localizedTitle: { de: Zweiter }, url: "https://a.example/y", icon: star, description: More, localizedDescription: { de: Mehr }, condition: visitor.y, draft: false }] }]`,
    ),
    cleared: siteSample(
      `[${REST_SAMPLE}, { group: g, title: G, items: [{ link: a, title: Second, localizedTitle: null, url: "https://a.example/y", icon: null, description: null, localizedDescription: null, condition: null }] }]`,
    ),
    gone: siteSample(`[{ group: g, title: G, items: [] }, ${REST_SAMPLE}]`),
    since: '0.201',
    storedIn: 'externalLinks',
    drift: ['PATCH', '/sites/{site}/external-links/{id}', { title: 'Drifted', url: 'https://drifted.example' }],
  },
  'site-space': {
    created: siteSample(
      '[{ key: b, space: two, path: b }, { key: a, space: one, path: a, condition: visitor.x, hidden: true }]',
    ),
    updated: siteSample(
      '[{ key: a, space: one, path: c, condition: visitor.y, hidden: false }, { key: b, space: two, path: b }]',
    ),
    cleared: siteSample('[{ key: a, space: one, path: c, condition: null }, { key: b, space: two, path: b }]'),
    gone: siteSample('[{ key: b, space: two, path: b }]'),
    storedIn: 'siteSpaces',
    drift: ['PATCH', '/sites/{site}/site-spaces/{id}', { path: 'drifted', hidden: false }],
  },
  redirect: {
    since: '0.201',
    created: redirectSample(
      '{ from: /old/*, to: { section: a }, permanent: true, captureWildcard: true }, { from: /kept, to: { section: rest }, draft: true }, { from: /gone, to: https://a.example }',
    ),
    updated: redirectSample(
      '{ from: /old/*, to: { siteSpace: rest/e }, permanent: false, captureWildcard: false }, { from: /kept, to: { section: rest }, draft: false }, { from: /new, to: https://a.example/b }',
    ),
    gone: redirectSample('{ from: /kept, to: { section: rest }, draft: true }, { from: /gone, to: https://a.example }'),
    storedIn: 'redirects',
    drift: ['PATCH', '/sites/{site}/redirects/{id}', { source: '/drifted', permanent: false }],
  },
  'agent-instructions': {
    created: 'agentInstructions: { text: "Write *short* sentences." }',
    updated: 'agentInstructions: { text: "- Name files.\\n- Say why." }',
    cleared: 'agentInstructions: { text: "" }',
    storedIn: 'organizations',
    drift: ['PUT', '/agent-instructions', { instructions: { object: 'document', data: {}, nodes: [] } }],
  },
  organization: {
    created:
      'organization: { title: Acme Docs, emailDomains: [acme.example, b.example], defaultRole: read, ai: false, inviteLinks: true, hostname: acme-docs, logo: "https://a.example/l.png" }',
    updated:
      'organization: { title: Acme, emailDomains: [c.example], defaultRole: edit, ai: true, inviteLinks: false, hostname: acme, logo: "https://a.example/m.png", mergeRules: { type: rules, rules: [{ rule: require_specific_reviewers, users: [ana@acme.example] }] } }',
    cleared: 'organization: { defaultRole: null, defaultContent: null, logo: null, mergeRules: { type: none } }',
    storedIn: 'organizations',
    drift: ['PATCH', '', { title: 'Drifted' }],
  },
};
