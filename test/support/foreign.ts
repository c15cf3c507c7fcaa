import type { World } from './world.ts';

/** Creates undeclared resources in an organization: one of every kind, and parts inside a site. */
export async function addForeign(world: Pick<World, 'call'>): Promise<void> {
  const people = (await world.call('GET', '/members?limit=100')).items as { id: string }[];
  const team = await world.call('PUT', '/teams', { title: 'Foreign team', members: [people[1]?.id] });
  await world.call('POST', '/saml', { label: 'Foreign login', defaultTeam: team.id });
  const collection = await world.call('POST', '/collections', { title: 'Foreign shelf' });
  const space = await world.call('POST', '/spaces', { title: 'Foreign space', parent: collection.id });
  const other = await world.call('POST', '/spaces', { title: 'Other foreign space' });
  const site = await world.call('POST', '/sites', { title: 'Foreign site', spaces: [other.id] });
  await world.call('POST', `/sites/${site.id}/sections`, { spaceId: space.id, title: 'Foreign section' });
  await world.call('POST', `/sites/${site.id}/section-groups`, { title: 'Foreign group' });
  await world.call('POST', '/openapi', { slug: 'foreign', source: { url: 'https://foreign.example/spec.json' } });
  await world.call('POST', '/translations', { source: { space: space.id, language: 'en' }, language: 'sv' });
}
