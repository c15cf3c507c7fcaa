import { beforeEach, describe, expect, test } from 'vitest';
import { as, type Body, type Fixture, type Reply, sharedFixture } from './fixture.ts';

/* Integrations: publication, installation, events and access tokens. */

const made: Fixture = await sharedFixture({
  processing: { conversations: 0 },
  tokens: {
    zendesk: { user: 'zendesk', permission: 'admin', integration: 'zendesk' },
    stranger: { user: 'zoe@elsewhere.example', permission: 'admin' },
  },
});
const { call, org, emulator, clock } = made;
const empty = emulator.state();

const HOUR = 60 * 60 * 1000;
const NAME = '/integrations/zendesk';

const publication = {
  organization: emulator.organization,
  title: 'Zendesk',
  description: 'Tickets',
  script: 'export default {}',
  scopes: ['conversations:ingest', 'space:content:read'],
  visibility: 'public',
};

async function publish(fields: object = {}, name = NAME): Promise<Reply> {
  return await call('POST', name, { ...publication, ...fields });
}

async function install(): Promise<string> {
  const { body } = await call('POST', `${NAME}/installations`, { organization: emulator.organization });
  return body.id;
}

async function tokenOf(installation: string): Promise<string> {
  return (await call('POST', `${NAME}/installations/${installation}/tokens`, undefined, as('zendesk'))).body.token;
}

async function payloads(): Promise<Body[]> {
  return (await call('GET', `${NAME}/events`)).body.items.map((event: Body) => event.payload).toReversed();
}

const ticket = { id: 'z-1', subject: 'PDF', parts: [{ type: 'message', role: 'user', body: 'It is empty.' }] };

beforeEach(() => {
  emulator.restore(empty);
  emulator.setFeatures({ ingestionByUsers: true, installationsByUsers: true });
});

describe('publishing an integration', () => {
  test('again increases the version and removes omitted settings', async () => {
    await publish({ summary: 'For support', secrets: { KEY: 'hush' }, icon: 'aWNvbg==', previewImages: ['YQ=='] });
    expect((await call('GET', NAME)).body).toMatchObject({
      version: 1,
      summary: 'For support',
      previewImages: [expect.stringMatching(/^http/)],
      urls: { icon: expect.stringMatching(/^http/) },
    });
    const again = (await publish()).body;
    expect(again).toMatchObject({ version: 2, previewImages: [] });
    expect(again).not.toHaveProperty('summary');
    expect(again.urls).not.toHaveProperty('icon');
  });

  test('never returns secrets and the script', async () => {
    const answers = [await publish({ secrets: { KEY: 'hush' }, script: 'burrow()' }), await call('GET', NAME)];
    expect(JSON.stringify(answers)).not.toMatch(/hush|burrow/);
  });

  test('requires a member of the owner, and hides a private one from others', async () => {
    expect((await call('POST', NAME, publication, as('stranger'))).status).toBe(403);
    await publish({ visibility: 'private' });
    expect((await call('GET', NAME, undefined, as('stranger'))).status).toBe(404);
    expect((await call('GET', NAME, undefined, as('zendesk'))).status).toBe(200);
    await publish();
    expect((await call('GET', NAME, undefined, as('stranger'))).body.permissions).toEqual({ admin: false });
    expect((await call('DELETE', NAME, undefined, as('stranger'))).status).toBe(403);
  });

  test('as unlisted makes it visible to its owner, or by name', async () => {
    await publish({ visibility: 'unlisted' });
    const counts = async (query: string, headers = {}) =>
      (await call('GET', `/integrations${query}`, undefined, headers)).body.count;
    expect(await counts('')).toBe(0);
    expect(await counts(`?owner=${emulator.organization}`)).toBe(1);
    expect(await counts(`?owner=${emulator.organization}`, as('stranger'))).toBe(0);
    expect((await call('GET', NAME, undefined, as('stranger'))).status).toBe(200);
  });

  test('is undone by unpublishing, which deletes installations, events and tokens', async () => {
    await publish();
    const token = await tokenOf(await install());
    expect((await call('DELETE', NAME)).status).toBe(205);
    expect((await call('GET', NAME)).status).toBe(404);
    expect((await call('GET', '/', undefined, as(token))).status).toBe(401);
    await publish();
    expect((await call('GET', NAME)).body.version).toBe(1);
    expect(await payloads()).toEqual([]);
    expect((await call('GET', `${NAME}/installations`)).body.count).toBe(0);
  });
});

describe('events', () => {
  test('report setup, each configuration and removal, newest first', async () => {
    const properties = { key: { type: 'string' }, rate: { type: 'number', default: 1 } };
    await publish({ configurations: { account: { properties, required: ['key', 'rate'] } } });
    const installationId = await install();
    const path = `${NAME}/installations/${installationId}`;
    clock.advance(1000);
    await call('PATCH', path, { configuration: { key: 'k' } });
    await call('PATCH', path, { externalIds: ['acme'] });
    clock.advance(1000);
    await call('DELETE', path);
    const at = { eventId: expect.stringMatching(/^evt_/), installationId };
    expect(await payloads()).toEqual([
      { ...at, type: 'installation_setup', status: 'pending' },
      { ...at, type: 'installation_setup', status: 'active', previous: { status: 'pending', configuration: {} } },
      { ...at, type: 'installation_deleted', previous: { configuration: { key: 'k' } } },
    ]);
    expect((await call('GET', path)).status).toBe(404);
    const times = (await call('GET', `${NAME}/events`)).body.items.map((event: Body) => event.createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('contain a trace of their handling', async () => {
    await publish();
    await publish();
    const installation = await install();
    const { items } = (await call('GET', `${NAME}/events`)).body;
    const { event, trace } = (await call('GET', `${NAME}/events/${items[0].id}`)).body;
    expect(event).toEqual(items[0]);
    expect(trace.logs).toEqual([
      {
        message: `installation_setup for installation ${installation}`,
        timestamp: event.createdAt,
        level: 'debug',
      },
      { message: 'handled by version 2 of zendesk', timestamp: event.createdAt, level: 'info' },
    ]);
  });

  test('report a new revision only to installations that may read the content', async () => {
    await publish();
    await publish({ scopes: ['openapi:read'], title: 'Other' }, '/integrations/other');
    const installationId = await install();
    await call('POST', '/integrations/other/installations', { organization: emulator.organization });
    const spaceId = (await org('POST', '/spaces', { title: 'Guides' })).id;
    const revised = emulator.reviseSpace(spaceId);
    const draft = (await call('POST', `/spaces/${spaceId}/change-requests`, { subject: 'S' })).body.id;
    const merged = (await call('POST', `/spaces/${spaceId}/change-requests/${draft}/merge`)).body.revision;
    const event = { eventId: expect.any(String), type: 'space_content_updated', installationId, spaceId };
    expect((await payloads()).slice(1)).toEqual([
      { ...event, revisionId: revised },
      { ...event, revisionId: merged },
    ]);
    expect((await call('GET', '/integrations/other/events')).body.count).toBe(1);
  });

  test('report a repeated translation', async () => {
    await publish();
    await install();
    const space = (await org('POST', '/spaces', { title: 'Guides', language: 'en' })).id;
    const { id } = await org('POST', '/translations', { source: { space, language: 'en' }, language: 'fr' });
    clock.advance(1000);
    await org('POST', `/translations/${id}/run`);
    clock.advance(1000);
    const { result } = await org('GET', `/translations/${id}`);
    expect((await payloads()).slice(1)).toMatchObject([
      { type: 'space_content_updated', spaceId: result.space, revisionId: result.revision },
    ]);
  });
});

describe('tokens', () => {
  test('of an installation can ingest, and identify the source', async () => {
    emulator.setFeatures({ ingestionByUsers: false });
    await publish();
    const installation = await install();
    const token = await tokenOf(installation);
    const organization = await call('GET', `/orgs/${emulator.organization}`, undefined, as(token));
    expect(organization.body.permissions.ingestConversations).toBe(true);
    const path = `/orgs/${emulator.organization}/conversations`;
    expect((await call('POST', path, ticket)).status).toBe(403);
    expect((await call('POST', path, ticket, as(token))).status).toBe(204);
    expect((await org('GET', '/conversations')).items).toMatchObject([
      { source: `integration:zendesk:${installation}` },
    ]);
  });

  test('of an installation are limited to its scopes and its organization', async () => {
    await publish();
    const token = as(await tokenOf(await install()));
    const space = (await org('POST', '/spaces', { title: 'Guides' })).id;
    const statuses = async (...calls: [string, string, unknown?][]) =>
      Promise.all(calls.map(async ([method, path, body]) => (await call(method, path, body, token)).status));
    expect(
      await statuses(
        ['GET', '/'],
        ['GET', NAME],
        ['GET', `/spaces/${space}/content/pages`],
        ['GET', '/spaces/none/content/pages'],
      ),
    ).toEqual([200, 200, 200, 404]);
    expect(
      await statuses(
        ['GET', '/orgs'],
        ['GET', '/orgs/org_other'],
        ['GET', `/orgs/${emulator.organization}/members`],
        ['GET', `/orgs/${emulator.organization}/openapi`],
        ['GET', `/spaces/${space}`],
        ['POST', `/spaces/${space}/change-requests`, { subject: 'S' }],
        ['POST', NAME, publication],
        ['GET', '/integrations'],
        ['GET', '/integrations/other'],
      ),
    ).toEqual(Array(9).fill(403));
    await publish({ scopes: [] });
    const organization = await call('GET', `/orgs/${emulator.organization}`, undefined, token);
    expect(organization.body.permissions.ingestConversations).toBe(false);
    const path = `/orgs/${emulator.organization}/conversations`;
    expect((await call('POST', path, ticket, token)).status).toBe(403);
  });

  test('of an installation expire after an hour or with the installation', async () => {
    await publish();
    const installation = await install();
    const old = await tokenOf(installation);
    clock.advance(HOUR - 1);
    expect((await call('GET', '/', undefined, as(old))).status).toBe(200);
    const later = await tokenOf(installation);
    clock.advance(1);
    expect((await call('GET', '/', undefined, as(old))).status).toBe(401);
    expect((await call('GET', '/', undefined, as(later))).status).toBe(200);
    await call('DELETE', `${NAME}/installations/${installation}`);
    expect((await call('GET', '/', undefined, as(later))).status).toBe(401);
  });

  test('of an integration list only its own installations', async () => {
    emulator.setFeatures({ installationsByUsers: false });
    await publish();
    const installation = await install();
    const path = `${NAME}/installations`;
    expect((await call('GET', path)).status).toBe(403);
    expect((await call('POST', `${path}/${installation}/tokens`)).status).toBe(403);
    expect((await call('GET', path, undefined, as('zendesk'))).body.items).toMatchObject([{ id: installation }]);
    expect((await call('GET', `${NAME}/events`, undefined, as('zendesk'))).body.count).toBe(1);
    expect((await call('GET', `/orgs/${emulator.organization}`, undefined, as('zendesk'))).status).toBe(403);
    expect((await call('DELETE', NAME, undefined, as('zendesk'))).status).toBe(403);
  });

  test('of an integration’s runtime are issued by the control API, and valid until it is unpublished', async () => {
    expect((await call('POST', '/_emulator/tokens/zendesk')).status).toBe(404);
    await publish();
    const { token } = (await call('POST', '/_emulator/tokens/zendesk')).body;
    clock.advance(10 * HOUR);
    expect((await call('GET', `${NAME}/installations`, undefined, as(token))).status).toBe(200);
    expect((await call('GET', '/orgs', undefined, as(token))).status).toBe(403);
    await call('DELETE', NAME);
    expect((await call('GET', '/', undefined, as(token))).status).toBe(401);
  });

  test('are kept in the state', async () => {
    await publish();
    const token = await tokenOf(await install());
    emulator.restore(emulator.state());
    expect((await call('GET', '/', undefined, as(token))).status).toBe(200);
  });
});
