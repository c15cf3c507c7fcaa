import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/routes/registry.ts';
import { type Body, document, type Fixture, fixture } from './fixture.ts';

/* Every operation: what it takes and answers, and what it refuses and how it says so. */

const SEED = createState({
  organizations: [
    emptyOrganization({
      id: 'org_acme',
      title: 'Acme',
      members: [
        { email: 'ana@acme.example', role: 'admin' },
        { email: 'bo@acme.example', role: 'edit' },
      ],
    }),
    emptyOrganization({ id: 'org_other', title: 'Other', members: [{ email: 'ana@acme.example', role: 'admin' }] }),
  ],
});

let world: Fixture;
let state: EmulatorState;
let ids: Record<string, string>;

/** One of everything; rows name them in braces. */
async function build(made: Fixture): Promise<Record<string, string>> {
  const { org } = made;
  const create = async (method: string, path: string, body: unknown) => (await org(method, path, body)).id as string;
  const members = (await org('GET', '/members?order=asc')).items.map((item: Body) => item.id);
  const [ana, bo] = members;
  const team = await create('PUT', '/teams', { title: 'Writers', members: [bo] });
  const saml = await create('POST', '/saml', { label: 'Okta' });
  const col = await create('POST', '/collections', { title: 'Handbook' });
  const nested = await create('POST', '/collections', { title: 'Nested', parent: col });
  const one = await create('POST', '/spaces', { title: 'One' });
  const two = await create('POST', '/spaces', { title: 'Two', language: 'en' });
  const inside = await create('POST', '/spaces', { title: 'Inside', parent: col });
  const dead = await create('POST', '/spaces', { title: 'Dead' });
  await made.call('DELETE', `/spaces/${dead}`);
  const site = await create('POST', '/sites', { title: 'Help' });
  const plain = await create('POST', '/sites', { title: 'Plain', spaces: [one, two] });
  const section = await create('POST', `/sites/${site}/sections`, { spaceId: one, title: 'Guides' });
  const api = await create('POST', `/sites/${site}/sections`, { spaceId: two, title: 'API' });
  const variant = await create('POST', `/sites/${site}/site-spaces`, { spaceId: two, sectionId: section });
  const group = await create('POST', `/sites/${site}/section-groups`, { title: 'Group' });
  const parent = await create('POST', `/sites/${site}/section-groups`, { title: 'Parent' });
  const structure = (await org('GET', `/sites/${site}/structure`)).structure;
  const own = structure[0].siteSpaces[0].id;
  await org('PUT', `/sites/${site}/adaptive-schema`, {
    jsonSchema: { type: 'object', properties: { beta: { type: 'boolean', description: 'Beta' } } },
  });
  await org('POST', `/sites/${plain}/publish`);
  const spec = (await org('PUT', '/openapi/petstore', { source: { url: 'https://api.example/openapi.json' } })).slug;
  const source = { space: two, language: 'en' };
  const translation = await create('POST', '/translations', { source, language: 'fr' });
  return {
    ...{ ana, bo, team, saml, col, nested, one, two, inside, dead, site, plain, section, api, variant, group, parent },
    ...{ own, spec, translation },
  } as Record<string, string>;
}

beforeAll(async () => {
  world = await fixture({ seed: SEED });
  ids = await build(world);
  state = world.emulator.state();
});
afterAll(() => world.emulator.close());
beforeEach(() => world.emulator.restore(state));

function filled<T>(value: T): T {
  const text = JSON.stringify(value).replace(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole);
  return JSON.parse(text) as T;
}

/** method, path (`ORG` is the organization, `SITE` its site), body, status, then what the body or message must say. */
type Row = readonly [method: string, path: string, body: unknown, status: number, says?: unknown];

const named = ([method, path, body, status, says]: Row) => ({ method, path, body, status, says });

const ORG = '/orgs/org_acme';
const SITE = `${ORG}/sites/{site}`;
const long = (length: number) => 'é'.repeat(length);
const at = (type: string, id: string) => ({ type, id });

const tables: Record<string, readonly Row[]> = {
  platform: [
    ['GET', '/', undefined, 200, { version: '0.146.0' }],
    ['GET', '/?x=1', undefined, 400, 'query.x: unknown parameter'],
  ],
  organizations: [
    ['GET', '/orgs', undefined, 200, { count: 2 }],
    ['GET', '/orgs?limit=1001', undefined, 400, 'query.limit: must be a number from 0 to 1000'],
    ['GET', ORG, undefined, 200, { object: 'organization', id: 'org_acme', title: 'Acme', emailDomains: [] }],
    ['GET', '/orgs/none', undefined, 404, 'Organization "none" not found'],
    ['PATCH', ORG, { title: 'New', defaultRole: 'read', sso: true }, 200, { title: 'New', defaultRole: 'read' }],
    ['PATCH', ORG, { title: long(255), hostname: 'abc' }, 200, { hostname: 'abc' }],
    ['PATCH', ORG, { logo: 'https://acme.example/logo.png' }, 200, { urls: { logo: 'https://acme.example/logo.png' } }],
    ['PATCH', ORG, { defaultContent: { type: 'site', site: '{site}' } }, 200, { defaultContent: { site: '{site}' } }],
    ['PATCH', ORG, { mergeRules: { type: 'rules', rules: [{ rule: 'require_agent_review' }] } }, 200],
    ['PATCH', ORG, { title: 'A' }, 400, 'body.title: must be 2-255 characters'],
    ['PATCH', ORG, { title: long(256) }, 400, 'body.title'],
    ['PATCH', ORG, { title: null }, 400, 'body.title'],
    ['PATCH', ORG, { hostname: 'ab' }, 400, 'body.hostname: must be 3-32 characters'],
    ['PATCH', ORG, { defaultRole: 'owner' }, 400, 'body.defaultRole: must be one of admin, create'],
    ['PATCH', ORG, { defaultContent: { type: 'site', site: 'none' } }, 400, 'body.defaultContent.site: site "none"'],
    ['PATCH', ORG, { logo: 'logo.png' }, 400, 'body.logo: must be an http or https URL'],
    ['PATCH', ORG, { plan: 'free' }, 400, 'body.plan: unknown field'],
    ['PATCH', ORG, { mergeRules: { type: 'rules' } }, 400, 'body.mergeRules.rules: required'],
    ['PATCH', ORG, undefined, 400, 'body: required'],
    ['PATCH', ORG, [], 400, 'body'],
  ],
  members: [
    ['GET', `${ORG}/members`, undefined, 200, { count: 2 }],
    ['GET', `${ORG}/members?role=admin`, undefined, 200, { count: 1 }],
    ['GET', `${ORG}/members?role=guest`, undefined, 200, { count: 0 }],
    ['GET', `${ORG}/members?search=BO@`, undefined, 200, { count: 1 }],
    ['GET', `${ORG}/members?sort=lastSeenAt`, undefined, 200, { count: 0 }],
    ['GET', `${ORG}/members?role=boss`, undefined, 400, 'query.role'],
    ['GET', `${ORG}/members?sort=title`, undefined, 400, 'query.sort: must be one of joinedAt, lastSeenAt'],
    ['GET', `${ORG}/members?order=up`, undefined, 400, 'query.order'],
    ['GET', `${ORG}/members/{bo}`, undefined, 200, { object: 'member', id: '{bo}', role: 'edit', teams: 1, spaces: 3 }],
    ['GET', `${ORG}/members/none`, undefined, 404, 'Member "none"'],
    ['PATCH', `${ORG}/members/{bo}`, { role: null }, 200, { role: null, spaces: 0 }],
    ['PATCH', `${ORG}/members/{bo}`, { role: 'owner' }, 400, 'body.role'],
    ['PATCH', `${ORG}/members/{ana}`, { role: 'read' }, 400, 'body.role: the last admin'],
    ['PATCH', `${ORG}/members/none`, { role: 'read' }, 404],
    ['DELETE', `${ORG}/members/{bo}`, undefined, 205],
    ['DELETE', `${ORG}/members/none`, undefined, 204],
    ['DELETE', `${ORG}/members/{ana}`, undefined, 400, 'the last admin'],
    ['DELETE', '/orgs/none/members/{bo}', undefined, 404],
    ['POST', `${ORG}/members/{bo}/sso`, undefined, 200, { sso: true }],
    ['POST', `${ORG}/members/none/sso`, undefined, 404],
    ['GET', `${ORG}/members/{bo}/spaces`, undefined, 200, { count: 3, items: [{ permission: 'edit' }, {}, {}] }],
    ['GET', `${ORG}/members/none/spaces`, undefined, 404],
    [
      'GET',
      `${ORG}/members/{bo}/teams?title=WRIT`,
      undefined,
      200,
      { count: 1, items: [{ member: { role: 'member' } }] },
    ],
    ['GET', `${ORG}/members/none/teams`, undefined, 404],
    ['POST', `${ORG}/ping`, undefined, 200],
    ['POST', '/orgs/none/ping', undefined, 404],
  ],
  teams: [
    ['GET', `${ORG}/teams`, undefined, 200, { count: 1, items: [{ object: 'team', title: 'Writers', members: 1 }] }],
    ['GET', `${ORG}/teams?title=nothing`, undefined, 200, { count: 0 }],
    ['GET', `${ORG}/teams?owner={bo}`, undefined, 200, { count: 0 }],
    ['GET', `${ORG}/teams?name=x`, undefined, 400, 'query.name: unknown parameter'],
    ['PUT', `${ORG}/teams`, { title: long(64), members: ['{ana}', '{bo}', '{bo}'] }, 201, { members: 2 }],
    ['PUT', `${ORG}/teams`, { title: '' }, 400, 'body.title: must be 1-64 characters'],
    ['PUT', `${ORG}/teams`, { title: long(65) }, 400, 'body.title'],
    ['PUT', `${ORG}/teams`, {}, 400, 'body.title: required'],
    ['PUT', `${ORG}/teams`, { title: 'T', members: ['bo@acme.example'] }, 400, 'body.members.0: member "bo@'],
    ['GET', `${ORG}/teams/{team}`, undefined, 200, { id: '{team}' }],
    ['GET', '/orgs/org_other/teams/{team}', undefined, 404, 'Team'],
    ['PATCH', `${ORG}/teams/{team}`, { title: 'Editors' }, 200, { title: 'Editors' }],
    ['PATCH', `${ORG}/teams/{team}`, {}, 400, 'body.title: required'],
    ['DELETE', `${ORG}/teams/{team}`, undefined, 205],
    ['DELETE', `${ORG}/teams/none`, undefined, 204],
    ['DELETE', '/orgs/none/teams/{team}', undefined, 404],
    ['GET', `${ORG}/teams/{team}/members`, undefined, 200, { count: 1, items: [{ team: { role: 'member' } }] }],
    ['GET', `${ORG}/teams/none/members`, undefined, 404],
    ['PUT', `${ORG}/teams/{team}/members`, { add: ['{ana}'] }, 204],
    ['PUT', `${ORG}/teams/{team}/members`, { add: ['zoe@acme.example'] }, 400, 'body.add.0: member "zoe@'],
    ['PUT', `${ORG}/teams/{team}/members`, { memberships: { '{bo}': { role: 'admin' } } }, 400, 'must be one of owner'],
    ['PUT', `${ORG}/teams/none/members`, {}, 404],
    ['PUT', `${ORG}/teams/{team}/members/{ana}`, { role: 'owner' }, 204],
    ['PUT', `${ORG}/teams/{team}/members/{ana}`, {}, 400, 'body.role'],
    ['PUT', `${ORG}/teams/{team}/members/none`, { role: 'owner' }, 404],
    ['DELETE', `${ORG}/teams/{team}/members/{bo}`, undefined, 205],
    ['DELETE', `${ORG}/teams/{team}/members/{ana}`, undefined, 204],
    ['DELETE', `${ORG}/teams/none/members/{ana}`, undefined, 404],
  ],
  saml: [
    ['GET', `${ORG}/saml`, undefined, 200, { count: 1, items: [{ object: 'saml-provider', status: 'pending' }] }],
    ['GET', '/orgs/none/saml', undefined, 404],
    ['POST', `${ORG}/saml`, { label: 'X', defaultTeam: '{team}', defaultRole: null }, 201, { defaultRole: null }],
    ['POST', `${ORG}/saml`, { label: '' }, 400, 'body.label: must be 1-30 characters'],
    ['POST', `${ORG}/saml`, { label: 'X', entityID: long(1025) }, 400, 'body.entityID: must be at most 1024'],
    ['POST', `${ORG}/saml`, { label: 'X', certificate: long(10_001) }, 400, 'body.certificate'],
    ['POST', `${ORG}/saml`, { label: 'X', ssoURL: 'okta' }, 400, 'body.ssoURL'],
    ['POST', `${ORG}/saml`, { label: 'X', defaultTeam: 'none' }, 400, 'body.defaultTeam: team "none" does not exist'],
    ['GET', `${ORG}/saml/{saml}`, undefined, 200, { label: 'Okta' }],
    ['GET', `${ORG}/saml/none`, undefined, 404, 'SAML provider "none"'],
    ['PATCH', `${ORG}/saml/{saml}`, { defaultTeam: '{team}' }, 200, { defaultTeam: { object: 'team', id: '{team}' } }],
    ['PATCH', `${ORG}/saml/{saml}`, { defaultTeam: null }, 400, 'body.defaultTeam'],
    ['DELETE', `${ORG}/saml/{saml}`, undefined, 205],
    ['DELETE', `${ORG}/saml/none`, undefined, 204],
    ['DELETE', '/orgs/none/saml/{saml}', undefined, 404],
    ['GET', `${ORG}/sso`, undefined, 200, { items: [] }],
    ['GET', '/orgs/none/sso', undefined, 404],
  ],
  collections: [
    ['GET', `${ORG}/collections`, undefined, 200, { count: 2 }],
    ['GET', `${ORG}/collections?nested=false`, undefined, 200, { count: 1 }],
    ['GET', `${ORG}/collections?nested=no`, undefined, 400, 'query.nested'],
    ['POST', `${ORG}/collections`, undefined, 201, { object: 'collection', title: 'Untitled' }],
    ['POST', `${ORG}/collections`, { title: long(50), parent: '{col}' }, 201, { parent: '{col}' }],
    ['POST', `${ORG}/collections`, { title: long(51) }, 400, 'body.title: must be at most 50 characters'],
    ['POST', `${ORG}/collections`, { parent: 'none' }, 400, 'body.parent: collection "none" does not exist'],
    ['GET', '/collections/{col}', undefined, 200, { title: 'Handbook', permissions: { create: true } }],
    ['GET', '/collections/none', undefined, 404],
    ['PATCH', '/collections/{col}', { description: 'D', defaultLevel: 'read' }, 200, { description: 'D' }],
    ['PATCH', '/collections/{col}', { description: long(101) }, 400, 'body.description'],
    ['PATCH', '/collections/{col}', { parent: null }, 400, 'body.parent: unknown field'],
    ['DELETE', '/collections/{col}', undefined, 205],
    ['DELETE', '/collections/none', undefined, 204],
    ['DELETE', '/collections/none', { force: true }, 400, 'body.force: unknown field'],
    ['GET', '/collections/{col}/spaces', undefined, 200, { count: 1 }],
    ['GET', '/collections/none/spaces', undefined, 404],
    ['POST', '/collections/{nested}/move', { parent: null }, 200],
    ['POST', '/collections/{nested}/move', {}, 400, 'must have a parent or a position'],
    ['POST', '/collections/{nested}/move', { parent: '{col}' }, 409, 'Nothing to update'],
    [
      'POST',
      '/collections/{col}/move',
      { parent: '{nested}' },
      400,
      'body.parent: a collection cannot be inside itself',
    ],
    ['POST', '/collections/none/move', { parent: null }, 404],
    ['POST', '/collections/{col}/transfer', { organization: 'org_other' }, 200, { organization: 'org_other' }],
    ['POST', '/collections/{col}/transfer', { organization: 'org_acme' }, 409],
    ['POST', '/collections/{col}/transfer', { organization: 'none' }, 400, 'body.organization'],
  ],
  spaces: [
    ['GET', `${ORG}/spaces`, undefined, 200, { count: 3 }],
    ['GET', `${ORG}/spaces?title=x`, undefined, 400, 'query.title'],
    ['POST', `${ORG}/spaces`, {}, 201, { editMode: 'live', visibility: 'private', defaultLevel: null }],
    [
      'POST',
      `${ORG}/spaces`,
      { parent: '{col}', emoji: '1f4d6' },
      201,
      { visibility: 'in-collection', emoji: '1f4d6' },
    ],
    ['POST', `${ORG}/spaces`, { title: long(51) }, 400, 'body.title'],
    ['POST', `${ORG}/spaces`, { language: 'xx' }, 400, 'body.language'],
    ['POST', `${ORG}/spaces`, { parent: 'none' }, 400, 'body.parent'],
    ['POST', `${ORG}/spaces`, { empty: false }, 400, 'body.empty: must be true'],
    ['POST', `${ORG}/spaces`, { empty: true, template: 't' }, 400, 'at most one of template'],
    ['GET', '/spaces/{one}', undefined, 200, { object: 'space', id: '{one}', comments: 0 }],
    ['GET', '/spaces/{dead}?shareKey=k', undefined, 200, { deletedAt: '2026-03-01T12:00:00.000Z' }],
    ['GET', '/spaces/none', undefined, 404],
    ['PATCH', '/spaces/{one}', { editMode: 'locked', language: 'fr' }, 200, { editMode: 'locked', language: 'fr' }],
    ['PATCH', '/spaces/{one}', { emoji: 'a', icon: 'https://a.example/i' }, 400, 'an emoji or an icon, not both'],
    ['PATCH', '/spaces/{one}', { visibility: 'public' }, 400, 'body.visibility: unknown field'],
    ['PATCH', '/spaces/{dead}', { title: 'x' }, 404],
    ['DELETE', '/spaces/{one}', undefined, 205],
    ['DELETE', '/spaces/{dead}', undefined, 204],
    ['DELETE', '/spaces/none?x=1', undefined, 400, 'query.x'],
    ['POST', '/spaces/{dead}/restore', undefined, 200, { id: '{dead}' }],
    ['POST', '/spaces/{one}/restore', undefined, 400, 'is not deleted'],
    ['POST', '/spaces/none/restore', undefined, 404],
    ['POST', '/spaces/{inside}/duplicate', undefined, 201, { title: 'Inside', parent: '{col}' }],
    ['POST', '/spaces/{dead}/duplicate', undefined, 404],
    ['POST', '/spaces/{one}/move', { parent: '{col}' }, 200, { parent: '{col}' }],
    ['POST', '/spaces/{one}/move', { parent: null }, 409],
    ['POST', '/spaces/{one}/move', { parent: 'none' }, 400, 'body.parent'],
    ['POST', '/spaces/{one}/move', { position: { before: { type: 'space', space: 'x' } } }, 400, 'invalid position'],
    ['POST', '/spaces/{one}/move', { position: { before: { type: 'page', page: 'x' } } }, 400, 'body.position.before'],
    ['POST', '/spaces/{inside}/transfer', { organization: 'org_other' }, 200, { organization: 'org_other' }],
    ['POST', '/spaces/{one}/transfer', { organization: 'org_other' }, 412, 'Cannot be moved'],
  ],
  sites: [
    ['GET', `${ORG}/sites`, undefined, 200, { count: 2 }],
    ['GET', `${ORG}/sites?published=true`, undefined, 200, { count: 1, items: [{ title: 'Plain' }] }],
    ['GET', `${ORG}/sites?title=hel&space={one}&type=basic&type=premium`, undefined, 200, { count: 1 }],
    ['GET', `${ORG}/sites?type=huge`, undefined, 400, 'query.type'],
    ['POST', `${ORG}/sites`, undefined, 201, { object: 'site', type: 'basic', visibility: 'public', published: false }],
    ['POST', `${ORG}/sites`, { spaces: ['{two}', '{one}'] }, 201, { siteSpaces: 2 }],
    ['POST', `${ORG}/sites`, { title: 'A' }, 400, 'body.title: must be 2-128 characters'],
    ['POST', `${ORG}/sites`, { spaces: ['{one}', '{one}'] }, 400, 'body.spaces'],
    ['POST', `${ORG}/sites`, { spaces: ['{dead}'] }, 400, 'body.spaces.0'],
    ['POST', `${ORG}/sites`, { type: 'huge' }, 400, 'body.type'],
    ['GET', SITE, undefined, 200, { siteSpaces: 3, agentsContext: 'included', adaptiveContent: { enabled: false } }],
    ['GET', '/orgs/org_other/sites/{site}', undefined, 404, 'Site'],
    ['PATCH', SITE, { proxy: 'docs.acme.example/help' }, 200, { proxy: { origin: 'https://docs.acme.example' } }],
    ['PATCH', SITE, { basename: 'x', agentsContext: 'excluded' }, 200, { basename: 'x', agentsContext: 'excluded' }],
    ['PATCH', SITE, { proxy: 'https://docs.acme.example/help' }, 400, 'body.proxy: must be a host and a path'],
    ['PATCH', SITE, { basename: '' }, 400, 'body.basename: must be 1-100 characters'],
    ['PATCH', SITE, { defaultSiteSpace: 'none' }, 400, 'body.defaultSiteSpace'],
    ['PATCH', SITE, { defaultSiteSection: 'none' }, 400, 'body.defaultSiteSection'],
    ['PATCH', SITE, { published: true }, 400, 'body.published: unknown field'],
    ['DELETE', SITE, undefined, 205],
    ['DELETE', `${ORG}/sites/none`, undefined, 204],
    ['DELETE', '/orgs/none/sites/{site}', undefined, 404],
    ['POST', `${SITE}/publish`, undefined, 200, { published: true }],
    ['POST', `${ORG}/sites/none/publish`, undefined, 404],
    ['POST', `${ORG}/sites/{plain}/unpublish`, undefined, 200, { published: false }],
    ['POST', `${ORG}/sites/none/unpublish`, undefined, 404],
    ['GET', `${SITE}/adaptive-schema`, undefined, 200, { object: 'site-adaptive-schema' }],
    ['GET', `${ORG}/sites/{plain}/adaptive-schema`, undefined, 404, 'schema'],
    ['PUT', `${SITE}/adaptive-schema`, { jsonSchema: { type: 'object', properties: {} } }, 200],
    ['PUT', `${SITE}/adaptive-schema`, { jsonSchema: { type: 'string' } }, 400, 'body.jsonSchema.type'],
    ['GET', `${SITE}/adaptive-schema/template-conditions`, undefined, 200, { items: [{ description: 'Beta' }] }],
    ['GET', `${ORG}/sites/{plain}/adaptive-schema/template-conditions`, undefined, 404],
    ['GET', `${SITE}/structure?shareKey=k`, undefined, 200, { type: 'sections' }],
    ['GET', `${ORG}/sites/{plain}/structure`, undefined, 200, { type: 'siteSpaces' }],
    ['GET', `${ORG}/sites/none/structure`, undefined, 404],
    ['GET', `${ORG}/sites/{plain}/published`, undefined, 200, { object: 'published-content-site' }],
    ['GET', `${SITE}/published`, undefined, 404, 'not published'],
  ],
  structure: [
    [
      'PATCH',
      `${SITE}/structure/sort`,
      { item: at('site-section', '{api}'), position: { before: at('site-section', '{section}') } },
      200,
      { object: 'site-section', id: '{api}' },
    ],
    ['PATCH', `${SITE}/structure/sort`, { item: at('site-section', '{api}'), position: {} }, 400, 'exactly one of'],
    [
      'PATCH',
      `${SITE}/structure/sort`,
      { item: at('page', 'x'), position: { after: at('page', 'y') } },
      400,
      'body.item',
    ],
    ['GET', `${SITE}/site-spaces?shareKey=k`, undefined, 200, { count: 3 }],
    ['GET', `${SITE}/site-spaces?default=true`, undefined, 200, { count: 2 }],
    ['GET', `${SITE}/site-spaces?default=1`, undefined, 400, 'query.default'],
    [
      'POST',
      `${SITE}/site-spaces`,
      { spaceId: '{inside}' },
      201,
      { section: '{section}', path: 'inside', hidden: false },
    ],
    ['POST', `${SITE}/site-spaces`, { spaceId: 'none' }, 400, 'body.spaceId: space "none" does not exist'],
    ['POST', `${SITE}/site-spaces`, { spaceId: '{one}', sectionId: 'none' }, 400, 'body.sectionId'],
    ['POST', `${SITE}/site-spaces`, { spaceId: '{one}' }, 400, 'body.spaceId: space'],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { path: 'v', hidden: true }, 200, { path: 'v', hidden: true }],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { condition: long(1024) }, 200],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { spaceId: '{inside}' }, 200, { title: 'Inside' }],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { condition: long(1025) }, 400, 'body.condition'],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { path: 'one' }, 400, 'body.path: path is already in use'],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { path: long(101) }, 400, 'body.path'],
    ['PATCH', `${SITE}/site-spaces/none`, {}, 404],
    ['DELETE', `${SITE}/site-spaces/{variant}`, undefined, 205],
    ['DELETE', `${SITE}/site-spaces/none`, undefined, 204],
    ['DELETE', `${ORG}/sites/none/site-spaces/{variant}`, undefined, 404],
    [
      'POST',
      `${SITE}/site-spaces/{variant}/move`,
      { position: { before: { type: 'site-space', siteSpace: '{own}' } } },
      200,
      { id: '{variant}' },
    ],
    ['POST', `${SITE}/site-spaces/{variant}/move`, { position: {} }, 400, 'body.position: must have before or after'],
    ['GET', `${SITE}/sections`, undefined, 200, { count: 2, items: [{ object: 'site-section', default: true }, {}] }],
    ['GET', `${ORG}/sites/none/sections`, undefined, 404],
    ['POST', `${SITE}/sections`, { spaceId: '{two}', title: null, icon: null }, 201, { title: 'Two', path: 'two' }],
    ['POST', `${SITE}/sections`, { title: 'No space' }, 400, 'body.spaceId: required'],
    ['POST', `${SITE}/sections`, { spaceId: '{two}', icon: long(51) }, 400, 'body.icon'],
    ['PATCH', `${SITE}/sections/{api}`, { title: 'New', description: 'D' }, 200, { title: 'New', description: 'D' }],
    ['PATCH', `${SITE}/sections/{api}`, { path: 'guides' }, 400, 'body.path: path is already in use'],
    ['PATCH', `${SITE}/sections/{api}`, { defaultSiteSpace: '{variant}' }, 400, 'does not belong to the section'],
    ['PATCH', `${SITE}/sections/none`, {}, 404],
    ['DELETE', `${SITE}/sections/{api}`, undefined, 205],
    ['DELETE', `${SITE}/sections/none`, undefined, 204],
    ['DELETE', `${ORG}/sites/none/sections/{api}`, undefined, 404],
    [
      'POST',
      `${SITE}/sections/{api}/move`,
      { position: { after: { type: 'site-section-group', siteSectionGroup: '{group}' } } },
      200,
    ],
    ['POST', `${SITE}/sections/{api}/move`, { position: { after: at('site-section', 'x') } }, 400, 'body.position'],
    ['GET', `${SITE}/section-groups`, undefined, 200, { count: 2, items: [{ object: 'site-section-group' }, {}] }],
    ['GET', `${ORG}/sites/none/section-groups`, undefined, 404],
    [
      'POST',
      `${SITE}/section-groups`,
      { title: 'G', icon: null, sections: ['{api}'], parent: '{parent}' },
      201,
      { sectionGroup: '{parent}', children: [{ id: '{api}' }], sections: [{ id: '{api}' }] },
    ],
    ['POST', `${SITE}/section-groups`, { title: '' }, 400, 'body.title: must be 1-100 characters'],
    ['POST', `${SITE}/section-groups`, { title: 'G', sections: ['none'] }, 400, 'body.sections.0'],
    ['POST', `${SITE}/section-groups`, { title: 'G', parent: 'none' }, 400, 'body.parent'],
    ['PATCH', `${SITE}/section-groups/{group}`, { title: 'New', icon: 'gear' }, 200, { title: 'New', icon: 'gear' }],
    ['PATCH', `${SITE}/section-groups/{group}`, { parent: null }, 400, 'body.parent: unknown field'],
    ['DELETE', `${SITE}/section-groups/{group}`, undefined, 205],
    ['DELETE', `${SITE}/section-groups/none`, undefined, 204],
    ['DELETE', `${ORG}/sites/none/section-groups/{group}`, undefined, 404],
    [
      'POST',
      `${SITE}/section-groups/{group}/move`,
      { position: { before: { type: 'site-section', siteSection: '{section}' } } },
      200,
    ],
    ['POST', `${SITE}/section-groups/none/move`, { position: {} }, 400, 'body.position'],
    ['POST', `${SITE}/section-groups/{group}/sections`, { sectionId: '{api}' }, 201, { children: [{ id: '{api}' }] }],
    ['POST', `${SITE}/section-groups/{group}/sections`, { sectionId: 'none' }, 400, 'body.sectionId'],
    ['DELETE', `${SITE}/section-groups/{group}/sections/{api}`, undefined, 204],
    ['DELETE', `${SITE}/section-groups/none/sections/{api}`, undefined, 404],
  ],
  openapi: [
    ['GET', `${ORG}/openapi`, undefined, 200, { count: 1, items: [{ object: 'openapi-spec', visibility: 'private' }] }],
    ['GET', '/orgs/none/openapi', undefined, 404],
    ['POST', `${ORG}/openapi`, { slug: 'A-1', source: { text: 'openapi: 3.1.0' } }, 201, { slug: 'A-1' }],
    ['POST', `${ORG}/openapi`, { slug: 'a--b', source: { text: '' } }, 400, 'body.slug'],
    ['POST', `${ORG}/openapi`, { slug: 'petstore', source: { text: '' } }, 400, 'body.slug: "petstore" is already'],
    ['POST', `${ORG}/openapi`, { slug: 'x', source: {} }, 400, 'body.source'],
    ['POST', `${ORG}/openapi`, { slug: 'x', source: { url: 'ftp://x' } }, 400, 'body.source'],
    ['GET', `${ORG}/openapi/{spec}`, undefined, 200, { sourceURL: 'https://api.example/openapi.json' }],
    ['GET', `${ORG}/openapi/none`, undefined, 404],
    ['PUT', `${ORG}/openapi/{spec}`, { source: { text: '{}' } }, 200, { processingState: 'pending' }],
    ['PUT', `${ORG}/openapi/new`, { source: { text: '{}' } }, 201, { slug: 'new' }],
    ['PUT', `${ORG}/openapi/-bad`, { source: { text: '{}' } }, 400, 'path.specSlug'],
    ['PATCH', `${ORG}/openapi/{spec}`, { visibility: 'public' }, 200, { visibility: 'public' }],
    ['PATCH', `${ORG}/openapi/{spec}`, { visibility: 'unlisted' }, 400, 'body.visibility'],
    ['PATCH', `${ORG}/openapi/none`, { visibility: 'public' }, 404],
    ['DELETE', `${ORG}/openapi/{spec}`, undefined, 205],
    ['DELETE', `${ORG}/openapi/none`, undefined, 204],
    ['DELETE', '/orgs/none/openapi/{spec}', undefined, 404],
  ],
  translations: [
    ['GET', `${ORG}/translations`, undefined, 200, { count: 1, items: [{ object: 'translation', language: 'fr' }] }],
    ['GET', '/orgs/none/translations', undefined, 404],
    [
      'POST',
      `${ORG}/translations`,
      { source: { space: '{two}', language: 'en' }, language: 'de', instructions: document('Formal') },
      201,
      { status: 'pending', instructions: { object: 'document' } },
    ],
    [
      'POST',
      `${ORG}/translations`,
      { source: { space: '{two}', language: 'en' }, language: 'fr' },
      400,
      'body.language',
    ],
    [
      'POST',
      `${ORG}/translations`,
      { source: { space: '{two}', language: 'de' }, language: 'de' },
      400,
      'body.language',
    ],
    ['POST', `${ORG}/translations`, { source: { space: '{two}' }, language: 'de' }, 400, 'body.source.language'],
    [
      'POST',
      `${ORG}/translations`,
      { source: { space: 'none', language: 'en' }, language: 'de' },
      400,
      'body.source.space',
    ],
    ['GET', `${ORG}/translations/{translation}`, undefined, 200, { stats: { runs: 0 } }],
    ['GET', `${ORG}/translations/none`, undefined, 404],
    ['PUT', `${ORG}/translations/{translation}`, { instructions: document('x') }, 200],
    ['PUT', `${ORG}/translations/{translation}`, {}, 400, 'body.instructions: required'],
    ['PUT', `${ORG}/translations/{translation}`, { instructions: 'Formal' }, 400, 'body.instructions.object'],
    ['DELETE', `${ORG}/translations/{translation}`, undefined, 205],
    ['DELETE', `${ORG}/translations/none`, undefined, 204],
    ['DELETE', '/orgs/none/translations/{translation}', undefined, 404],
    ['POST', `${ORG}/translations/{translation}/run`, undefined, 204],
    ['POST', `${ORG}/translations/none/run`, undefined, 404],
  ],
};

describe.each(Object.entries(tables))('%s', (_, rows) => {
  test.each(rows.map(named))('$method $path $body → $status', async ({ method, path, body, status, says }) => {
    const filledBody = body === undefined ? undefined : filled(body);
    const reply = await world.call(method, filled(path), filledBody);
    expect({ status: reply.status, error: reply.body.error?.message }).toMatchObject({ status });
    if (status >= 400) {
      expect(reply.body).toEqual({ error: { code: status, message: expect.stringContaining(String(says ?? '')) } });
    } else if (says !== undefined) {
      expect(reply.body).toMatchObject(filled(says) as object);
    }
    if (status === 204 || status === 205) {
      expect(reply.body).toBe('');
    }
  });
});

test('every operation is called well and badly by the tables', async () => {
  world.emulator.requests.reset();
  for (const [method, path, body] of Object.values(tables).flat()) {
    world.emulator.restore(state);
    await world.call(method, filled(path), body === undefined ? undefined : filled(body));
  }
  const { entries } = world.emulator.requests;
  const good = new Set(entries.filter((entry) => (entry.status ?? 0) < 300).map((entry) => entry.operation));
  const bad = new Set(entries.filter((entry) => (entry.status ?? 0) >= 400).map((entry) => entry.operation));
  const names = OPERATIONS.flat().map((operation) => operation.name);
  expect(names.filter((name) => !good.has(name))).toEqual([]);
  expect(names.filter((name) => !bad.has(name))).toEqual([]);
});

/** Supplement, section 2: the kinds of resource that are created with a Location. */
const located: readonly Row[] = [
  ['POST', `${ORG}/spaces`, {}, 201],
  ['POST', '/spaces/{one}/duplicate', undefined, 201],
  ['POST', `${ORG}/collections`, {}, 201],
  ['POST', `${ORG}/sites`, {}, 201],
  ['POST', `${SITE}/site-spaces`, { spaceId: '{inside}' }, 201],
  ['POST', `${SITE}/sections`, { spaceId: '{inside}' }, 201],
  ['POST', `${SITE}/section-groups`, { title: 'G' }, 201],
  ['POST', `${SITE}/section-groups/{group}/sections`, { sectionId: '{api}' }, 201],
  ['POST', `${ORG}/saml`, { label: 'L' }, 201],
];

test.each(located.map(named))('$method $path sends a Location', async ({ method, path, body }) => {
  const reply = await world.call(method, filled(path), body === undefined ? undefined : filled(body));
  expect(reply.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/\w+/);
});

const unlocated: readonly Row[] = [
  ['PUT', `${ORG}/teams`, { title: 'T' }, 201],
  ['POST', `${ORG}/openapi`, { slug: 'x', source: { text: '' } }, 201],
  ['POST', `${ORG}/translations`, { source: { space: '{two}', language: 'en' }, language: 'de' }, 201],
];

test.each(unlocated.map(named))('$method $path sends none', async ({ method, path, body }) => {
  const reply = await world.call(method, filled(path), filled(body));
  expect(reply.status).toBe(201);
  expect(reply.headers.get('location')).toBeNull();
});
