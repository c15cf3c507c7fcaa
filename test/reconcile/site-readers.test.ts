import { afterEach, beforeEach, expect, test } from 'vitest';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const site = (rest: string) => `sites: { help: { title: Help, ${rest} } }`;
const path = async () => `/sites/${(await world.call('GET', '/sites')).items[0].id}`;
const access = async (manifest: string) =>
  (await world.plan(manifest)).plan.access.map(({ person, role, to }) => [person, role, to]);

test('how visitors sign in is compared and written by member, and a plan lists it as access', async () => {
  const first = site('visitorAuth: { backend: custom, fallbackURL: "https://acme.example/login" }');
  expect(await access(first)).toContainEqual([
    'visitors who sign in',
    'signs in through custom, fallbackURL "https://acme.example/login"',
    'site/help',
  ]);
  await world.apply(first);
  expect((await world.plan(first)).plan.changes).toEqual([]);
  expect((await world.plan(site('visitorAuth: { backend: custom }'))).plan.changes).toEqual([]);
  const cleared = site('visitorAuth: { backend: integration, fallbackURL: null }');
  await world.apply(cleared);
  const { privateKey, ...now } = await world.call('GET', `${await path()}/publishing/auth`);
  expect(now).toEqual({ object: 'publishing-auth', backend: 'integration' });
  expect(privateKey).toMatch(/^\S{24}$/);
  expect((await world.plan(cleared)).plan.changes).toEqual([]);
});

test('drift of the sign-in of visitors is undone', async () => {
  const manifest = site('visitorAuth: { backend: custom, fallbackURL: "https://acme.example/login" }');
  await world.apply(manifest);
  await world.call('PATCH', `${await path()}/publishing/auth`, {
    backend: 'custom',
    fallbackURL: 'https://evil.example',
  });
  expect((await world.apply(manifest)).planned.plan.changes[0]?.fields).toEqual([
    {
      path: 'visitorAuth',
      from: { backend: 'custom', fallbackURL: 'https://evil.example' },
      to: { backend: 'custom', fallbackURL: 'https://acme.example/login' },
    },
  ]);
  expect((await world.plan(manifest)).plan.changes).toEqual([]);
});

test('share links are created, changed, adopted by name and deleted after approval', async () => {
  const { id } = await world.call('POST', '/sites', { title: 'Help' });
  const { urls } = await world.call('POST', `/sites/${id}/share-links`, { name: 'Partners' });
  const both = site('shareLinks: { partners: { name: Partners, active: false }, guests: { name: Guests } }');
  expect(await access(both)).toEqual([
    ['everyone with the share link "Guests"', 'read', 'share-link/help/guests'],
    ['everyone with the share link "Partners"', 'read', null],
  ]);
  await world.apply(both);
  const links = (await world.call('GET', `/sites/${id}/share-links`)).items;
  expect(links).toMatchObject([
    { name: 'Partners', active: false, urls },
    { name: 'Guests', active: true },
  ]);
  expect((await world.plan(both)).plan.changes).toEqual([]);
  const one = site('shareLinks: { partners: { name: Partners, active: false } }');
  const { plan } = await world.plan(one);
  expect(plan.changes).toMatchObject([
    { action: 'delete', address: 'share-link/help/guests', impact: expect.stringContaining('cannot be restored') },
  ]);
});

test('what is not declared is not read', async () => {
  await world.apply(site('shareLinks: { a: { name: A } }'));
  world.emulator.requests.reset();
  await world.plan(site('shareLinks: { a: { name: A } }'));
  expect(world.emulator.requests.entries.map(({ operation }) => operation)).toEqual([
    'listSites',
    'listSiteShareLinks',
  ]);
});

test('an address to sign out is left out where the platform has none, with one line', async () => {
  const manifest = site('visitorAuth: { backend: custom, logoutURL: "https://acme.example/out" }');
  const first = await world.apply(manifest);
  expect(first.results.map(({ status }) => status)).toEqual(['applied']);
  const { planned, results } = await world.apply(manifest);
  expect(results).toEqual([]);
  expect(planned.plan.notes.map(({ text }) => text)).toEqual([
    'visitorAuth.logoutURL was not compared: this version of the platform has no such setting',
  ]);
});

test.each([['in the pass that creates the site'], ['later']])('an address to sign out is written %s', async (when) => {
  world.emulator.setFeatures(getFeatures('0.202'));
  if (when === 'later') {
    await world.apply('sites: { help: { title: Help } }');
  }
  const manifest = site('visitorAuth: { backend: custom, logoutURL: "https://acme.example/out" }');
  await world.apply(manifest);
  expect(await world.call('GET', `${await path()}/publishing/auth`)).toMatchObject({
    logoutURL: 'https://acme.example/out',
  });
  expect((await world.plan(manifest)).plan.changes).toEqual([]);
});
