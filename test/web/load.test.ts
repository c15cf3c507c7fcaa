import { expect, test } from 'vitest';
import type { Backend } from '../../src/web/model/backend.ts';
import type { PageDefinition, PageRequest } from '../../src/web/page.ts';
import { organizationPage } from '../../src/web/pages/organization.ts';
import { organizationsPage } from '../../src/web/pages/organizations.ts';
import { countCases } from '../support/campaign.ts';
import { fakeDaemon, NOW } from '../views/backend.ts';
import { someRequest } from '../views/some-backend.ts';

/** Number of organizations, and of resources of one. */
const ORGANIZATIONS = countCases({ sample: 200, ci: 500, full: 1000 });
const RESOURCES = countCases({ sample: 10_000, ci: 50_000, full: 100_000 });

/** Largest page, in bytes. */
const LARGEST = 50_000;
const request = (organization?: string) => ({
  ...someRequest(organization === undefined ? {} : { organization }),
  now: NOW,
});

async function render(page: PageDefinition, backend: Backend, asked: PageRequest): Promise<string> {
  const view = await page.load(backend, asked);
  return view === null ? '' : String(await page.render?.(view, asked));
}

test(`the first page of ${ORGANIZATIONS} organizations is small`, async () => {
  const names = Array.from({ length: ORGANIZATIONS }, (_, index) => `org_${String(index).padStart(4, '0')}`);
  const { backend } = await fakeDaemon(
    ...names.map((id) => ({ id, plan: { manifests: { 'a.yaml': `teams: { a: { title: A team of ${id} } }` } } })),
  );
  const shown = await render(organizationsPage, backend, request());
  expect(shown.length).toBeLessThan(LARGEST);
  expect(shown).toContain(`${ORGANIZATIONS} organizations`);
  expect(shown).toContain('after=org_0099');
});

test(`the page of an organization with ${RESOURCES} resources is small`, async () => {
  const teams = Array.from({ length: RESOURCES }, (_, index) => `  t-${index}: { title: Team ${index} }`);
  const { backend } = await fakeDaemon({ plan: { manifests: { 'a.yaml': `teams:\n${teams.join('\n')}` } } });
  const shown = await render(organizationPage, backend, request('org_1'));
  expect(shown.length).toBeLessThan(LARGEST);
  expect(shown).toContain(`${RESOURCES} resources`);
});
