/** Pages of organizations, resources, plans and passes. */
import { describe, expect, test } from 'vitest';
import { DesiredStateError } from '../../../src/core/errors.ts';
import { type DecisionView, decisionCard, decisionView } from '../../../src/web/html/decision.ts';
import type { PageDefinition, PageRequest } from '../../../src/web/model/page.ts';
import { organizationPage } from '../../../src/web/pages/organization.ts';
import { passesPage, passPage } from '../../../src/web/pages/passes.ts';
import { planPage } from '../../../src/web/pages/plan.ts';
import { resourcePage } from '../../../src/web/pages/resource.ts';
import { ana, type Fake, fakeDaemon, NOW, passOf, request } from '../fake-daemon.ts';
import { DELETION } from '../hostile-daemon.ts';
import { render as renderPage } from '../some-backend.ts';

const render = (page: PageDefinition, { backend }: Fake, asked: PageRequest) => renderPage(page, backend, asked);

describe('the form of a plan', () => {
  test('carries the checksum of what it shows, for an approver only', async () => {
    const fake = await fakeDaemon(DELETION);
    const [plan] = fake.plans;
    const params = { checksum: plan?.checksum ?? '' };
    const shown = await render(planPage, fake, request(params));
    expect(shown).toContain(`<input type="hidden" name="checksum" value="${plan?.heldChecksum}">`);
    expect(shown).toContain(`<input type="hidden" name="plan" value="${plan?.checksum}">`);
    expect(shown).toContain('Approve 1 change<');
    expect(shown.indexOf('deletes')).toBeLessThan(shown.indexOf('<form'));
    for (const role of ['viewer', 'operator'] as const) {
      const withoutForm = await render(planPage, fake, request(params, { role }));
      expect(withoutForm).not.toContain('<form');
      expect(withoutForm).toContain('needs the role approver');
    }
  });

  test('is missing once enough people have approved, unless somebody has rejected the plan', async () => {
    const fake = await fakeDaemon(DELETION);
    const [plan] = fake.plans;
    const decide = (name: string, verdict: 'approved' | 'rejected') =>
      fake.store.organization('org_1').decide({
        ...{ checksum: plan?.heldChecksum ?? '', verdict, reason: '', at: NOW },
        by: { name, method: 'oidc' },
      });
    const page = () => render(planPage, fake, request({ checksum: plan?.checksum ?? '' }));
    expect(await page()).toContain('>needs approval<');
    await decide('ana@acme.example', 'approved');
    const approved = await page();
    expect(approved).not.toContain('>needs approval<');
    expect(approved).toContain('approved, not applied yet');
    expect(approved).not.toContain('Approve 1 change<');
    await decide('bo@acme.example', 'rejected');
    const rejected = await page();
    expect(rejected).not.toContain('not applied yet');
    expect(rejected).toContain('Approve 1 change<');
  });

  test('says who may approve, how many have to, and what happens to a rejected plan', async () => {
    const given = { ...DELETION, config: { approvals: { count: 2, notAuthor: true } } };
    const fake = await fakeDaemon(given);
    const [plan] = fake.plans;
    const bo = { name: 'bo@acme.example', method: 'oidc' } as const;
    const page = (asked: Parameters<typeof request>[1]) =>
      render(planPage, fake, request({ checksum: plan?.checksum ?? '' }, asked));
    // The author of the commit can reject, but not approve.
    const own = await page({});
    expect(own).toContain('Deletes the team B');
    expect(own).toContain('Rename &quot;docs&quot; by ana@acme.example');
    expect(own).toContain('You cannot approve this plan: ana@acme.example wrote a commit');
    expect(own).not.toContain('>Approve…<');
    expect(own).toContain('>Reject…<');
    // Somebody else sees what is deleted for good, and has to say why.
    const asked = await page({ actor: bo });
    expect(asked).toContain('1 change waits for approval: 0 of 2 approvals so far.');
    expect(asked).toMatch(/This deletes:<\/p>\s*<ul[^>]*><li>team (<b>)?&?[^<]*B.*3 members/s);
    expect(asked).toMatch(/>Reason<.*required.*>Approve 1 change</s);
    expect(asked).toContain('It stays held until somebody approves it again.');
    await fake.store.organization('org_1').decide({
      ...{ checksum: plan?.heldChecksum ?? '', verdict: 'approved', by: bo, reason: 'fine', at: NOW },
    });
    expect(await page({ actor: bo })).toContain('1 change waits for approval: 1 of 2 approvals so far.');
  });

  test('says how far a run is, of what it applies and not of what is held', async () => {
    const fake = await fakeDaemon({ ...DELETION, end: null, isRunning: true, reached: 0 });
    for (const page of [organizationPage, planPage]) {
      const shown = await render(page, fake, request({ checksum: fake.plans[0]?.checksum ?? '' }));
      expect(shown).toMatch(/<h2[^>]*>.* Updates the team A<\/h2>/s);
      expect(shown).toContain('Applying, 0 of 1');
      expect(shown).not.toContain('>Approve…<');
    }
  });

  test('is missing on a plan that is refused', async () => {
    const fake = await fakeDaemon({
      ...DELETION,
      edit: (plan, declared) => [{ ...plan, verdict: { state: 'refused', reasons: ['it locks out'] } }, declared],
    });
    const shown = await render(planPage, fake, request({ checksum: fake.plans[0]?.checksum ?? '' }));
    expect(shown).toContain('it locks out');
    expect(shown).not.toContain('<form');
    expect(await render(organizationPage, fake, request({}))).not.toContain('for approval');
  });
});

test('what changed last names the result, the commit and the end of each run, and opens it', async () => {
  const fake = await fakeDaemon(DELETION);
  const [plan] = fake.plans;
  const history = fake.store.history('org_1');
  await history.addPass(passOf(plan ?? null));
  await history.addPass(passOf(null, { commit: 'c'.repeat(40) }));
  await history.addPass(passOf(null, { commit: 'd'.repeat(40), outcome: 'failed', error: 'No answer' }));
  const shown = await render(organizationPage, fake, request({}));
  const [failed = '', planned = '', ...others] = shown
    .slice(shown.indexOf('What changed last'))
    .split('<li>')
    .filter((row) => row.includes('/history/'));
  expect(failed).toMatch(/>failed<.*href="\/o\/org_1\/history\/3".*>No answer<.*>ddddddd<.*>1 minute ago</s);
  expect(planned).toMatch(
    /href="\/o\/org_1\/history\/1".*>2 planned<.*>3f2a91c<.* Rename &quot;docs&quot;.*>1 minute ago</s,
  );
  // A run that changed nothing is only in the strip.
  expect(others).toEqual([]);
  const run = await render(passPage, fake, request({ number: '1' }));
  expect(run).toContain(`href="/o/org_1/plans/${encodeURIComponent(plan?.checksum ?? '')}"`);
});

test('the history folds the runs of a commit into one item, which is open while one of them is', async () => {
  const fake = await fakeDaemon(DELETION);
  const history = fake.store.history('org_1');
  const next = { commit: 'c'.repeat(40), subject: 'Add <b>German</b>', author: 'bo@acme.example' };
  await history.addPass(passOf(null, { counts: { create: 30, applied: 30 } }));
  await history.addPass(passOf(null, { ...next, counts: { update: 2, applied: 2 }, writes: 2 }));
  await history.addPass(
    passOf(null, { ...next, trigger: 'schedule', counts: { update: 1, applied: 1, held: 1 }, writes: 1 }),
  );
  const items = async (query = {}) => {
    const page = await render(passesPage, fake, { ...request({}), query });
    const [, ...groups] = page.split('<div class="commit">');
    return groups.map((each) => each.replaceAll(/\s+/g, ' '));
  };
  const [folded = '', alone = '', ...others] = await items();
  expect(others).toEqual([]);
  expect(folded).toMatch(
    /<b>Add &lt;b&gt;German&lt;\/b&gt;<\/b>.*by bo@acme.example.*<summary>2 runs: 3 applied, 1 held<\/summary>/,
  );
  expect(folded).toMatch(/href="\/o\/org_1\/history\/3".*regular check.*href="\/o\/org_1\/history\/2"/);
  expect(folded).not.toMatch(/<details[^>]* open/);
  expect(alone).toMatch(/href="\/o\/org_1\/history\/1".*>30 applied</);
  expect(alone).not.toContain('<details');
  const [opened = ''] = await items({ run: '2' });
  expect(opened).toMatch(/<details[^>]* open/);
});

test.each([
  [['space'], /The platform can restore a deleted space for 7 days; a revert creates a new one, which is empty\.<\/p>/],
  [['team'], />This cannot be undone: a revert creates it again/],
  [['space', 'member', 'site'], /for 7 days;.* A member who is removed has to join again\. The rest cannot be undone/],
  [[], null],
] as const)('the card of a plan that deletes %j says what can come back', async (kinds, words) => {
  const fake = await fakeDaemon(DELETION);
  const asked = request({});
  const { organizations } = fake.backend;
  const decision = await decisionView(organizations()[0] as never, asked.viewer.actor);
  const shown = String(await decisionCard({ ...(decision as DecisionView), deletedKinds: [...kinds] }, asked));
  expect(shown.includes('revert')).toBe(words !== null);
  expect(shown).toMatch(words ?? /./);
});

test('the page of an organization names the commit that broke the manifests, not a later one', async () => {
  const problem = { file: 'a.yaml', line: 3, column: 1, address: '', message: 'a closing " is missing' };
  const fake = await fakeDaemon({ ...DELETION, end: { error: new DesiredStateError([problem]), outcome: 'failed' } });
  const history = fake.store.history('org_1');
  const failing = { error: 'a.yaml:3:1: a closing " is missing', outcome: 'failed' } as const;
  const commits = [
    { commit: 'a'.repeat(40), subject: 'An old mistake', author: 'old@acme.example', ...failing },
    { commit: 'b'.repeat(40), subject: 'Correct it' },
    { commit: 'c'.repeat(40), subject: 'Forget a <quote>', author: 'bo@acme.example', ...failing },
    // The last valid commit is still applied.
    { trigger: 'schedule', ...failing },
    { commit: 'd'.repeat(40), subject: 'Something else', author: 'cy@acme.example', ...failing },
  ];
  for (const each of commits) {
    await history.addPass(passOf(null, each));
  }
  const shown = await render(organizationPage, fake, request({}));
  expect(shown).toContain('Invalid since commit <code>ccccccc</code> by bo@acme.example: Forget a &lt;quote&gt;</p>');
  const valid = await fakeDaemon(DELETION);
  expect(await render(organizationPage, valid, request({}))).not.toContain('Invalid since');
});

test('operators check an organization, and pause or resume it and its resources', async () => {
  const fake = await fakeDaemon(DELETION);
  const ofOrganization = await render(organizationPage, fake, request({}, { role: 'operator' }));
  expect(ofOrganization).toContain('name="action" value="reconcile"');
  expect(ofOrganization).toContain('name="action" value="pause"');
  await fake.store.history('org_1').pause({ address: 'team/a', reason: 'r', by: ana, since: NOW, until: null });
  const shown = await render(resourcePage, fake, request({ '*': 'team/a' }, { role: 'operator' }));
  expect(shown).toContain('name="action" value="resume"');
  expect(shown).toContain('Paused by ana@acme.example until it is resumed: r');
  expect(shown).not.toContain('name="action" value="pause"');
});
