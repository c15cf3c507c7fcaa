import { expect, test } from 'vitest';
import { organizationPage } from '../../src/web/pages/organization.ts';
import { organizationsPage } from '../../src/web/pages/organizations.ts';
import { countCases } from '../support/campaign.ts';
import { fakeDaemon, request } from './fake-daemon.ts';
import { render } from './some-backend.ts';

/** Number of organizations, and of resources of one. */
const ORGANIZATIONS = countCases({ sample: 200, ci: 500, full: 1000 });
const RESOURCES = countCases({ sample: 10_000, ci: 50_000, full: 100_000 });

/** Largest page, in bytes. */
const LARGEST = 50_000;

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
  const shown = await render(organizationPage, backend, request());
  expect(shown.length).toBeLessThan(LARGEST);
  expect(shown).toContain(`${RESOURCES} resources`);
});
