import { expect, test } from 'vitest';
import { organizationPage } from '../../src/web/pages/organization.ts';
import { organizationsPage } from '../../src/web/pages/organizations.ts';
import { planPage } from '../../src/web/pages/plan.ts';
import { loadAssets } from '../../src/web/server/layout.ts';
import { countCases } from '../support/campaign.ts';
import { actual } from '../support/planning.ts';
import { fakeDaemon, request } from './fake-daemon.ts';
import { render } from './some-backend.ts';

/** Number of organizations, and of resources of one. */
const ORGANIZATIONS = countCases({ sample: 200, ci: 500, full: 1000 });
const RESOURCES = countCases({ sample: 10_000, ci: 50_000, full: 100_000 });

/** Largest page, in bytes. */
const LARGEST = 50_000;
/** Largest first page with its styles and scripts, in bytes, less the frame of the page. */
const FIRST_VISIT = 58_000;

test(`the first page of ${ORGANIZATIONS} organizations is small`, async () => {
  const names = Array.from({ length: ORGANIZATIONS }, (_, index) => `org_${String(index).padStart(4, '0')}`);
  const { backend } = await fakeDaemon(
    ...names.map((id) => ({ id, plan: { manifests: { 'a.yaml': `teams: { a: { title: A team of ${id} } }` } } })),
  );
  const shown = await render(organizationsPage, backend, request());
  const assets = await loadAssets();
  const files = ['tokens.css', 'style.css', 'icon.svg', 'page.js', 'idiomorph.js'].map((name) => assets.get(name));
  const bytes = files.reduce((sum, file) => sum + (file?.body.length ?? Number.POSITIVE_INFINITY), shown.length);
  expect(bytes).toBeLessThan(FIRST_VISIT);
  expect(shown).toContain(`${ORGANIZATIONS} organizations`);
  expect(shown).toContain('after=org_0049');
});

test(`the page of an organization with ${RESOURCES} resources is small`, async () => {
  const teams = Array.from({ length: RESOURCES }, (_, index) => `  t-${index}: { title: Team ${index} }`);
  const { backend } = await fakeDaemon({ plan: { manifests: { 'a.yaml': `teams:\n${teams.join('\n')}` } } });
  const shown = await render(organizationPage, backend, request());
  expect(shown.length).toBeLessThan(LARGEST);
  expect(shown).toContain(`${RESOURCES} resources`);
});

test('the page of a plan of 300 changes is small', async () => {
  const keys = Array.from({ length: 300 }, (_, index) => `team-number-${index}`);
  const teams = (word: string) =>
    keys.map((key, index) => `  ${key}: { title: ${word} ${index}, members: { ${word}@acme.example: member } }`);
  const { backend, plans } = await fakeDaemon({
    plan: {
      manifests: { 'a.yaml': `teams:\n${teams('writers').join('\n')}` },
      base: { 'a.yaml': `teams:\n${teams('authors').join('\n')}` },
      ids: Object.fromEntries(keys.map((key) => [`team/${key}`, key])),
      actuals: keys.map((key, index) =>
        actual('team', key, { title: `authors ${index}`, members: { 'authors@acme.example': 'member' } }),
      ),
    },
    config: { source: { git: { url: 'https://github.com/acme/docs.git', path: 'manifests' } } } as never,
  });
  const shown = await render(planPage, backend, request({ checksum: plans[0]?.checksum ?? '' }));
  expect(shown.length).toBeLessThan(2 * LARGEST);
  expect(shown).toContain('300 changes');
});
