/** Tasks of people, counted in clicks from the overview of the organization. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClusterOverview } from '../../../src/clusters/events.ts';
import { DesiredStateError } from '../../../src/core/errors.ts';
import { someCluster } from '../../clusters/samples.ts';
import { type Fake, fakeDaemon, passOf } from '../fake-daemon.ts';
import { DELETION } from '../hostile-daemon.ts';
import { openPageApp, tokenEntry } from '../page-app.ts';
import {
  type Asked,
  MINUTE,
  NOW,
  type OrganizationParts,
  someHandlers,
  someSource,
  withParts,
} from '../some-backend.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';
import { signIn } from './page-check.ts';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) {
    browser = await openBrowser();
  }
});
afterAll(async () => browser?.close());

const YESTERDAY = NOW - 24 * 60 * MINUTE;
const PROBLEM = { file: 'teams.yaml', line: 3, column: 1, address: 'team/a', message: 'a closing " is missing' };

/** Serves an organization in which everything that people look for has happened. */
async function open() {
  const fake = await fakeDaemon({
    ...DELETION,
    id: 'acme',
    end: { error: new DesiredStateError([PROBLEM]), outcome: 'failed' },
  });
  await addBroken(fake);
  const asked: Asked[] = [];
  await using stack = new AsyncDisposableStack();
  const app = stack.use(
    await openPageApp({
      ui: { tokens: [tokenEntry('cy', 'cy-token')], roles: [{ role: 'approver', people: ['*'] }] },
      handlers: someHandlers(asked, { isComplete: true }),
      backend: (backend) => ({
        ...backend,
        organizations: () => fake.backend.organizations().map((each) => withParts(each, parts())),
      }),
    }),
  );
  const url = await app.server.listen();
  const { tab, problems } = stack.use(await signIn(browser, url, 'cy-token', {}));
  const all = stack.move();
  return { tab, problems, asked, overview: `${url}/o/acme`, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function addBroken({ store }: Fake): Promise<void> {
  const history = store.history('acme');
  await history.addPass(passOf(null, { commit: 'a'.repeat(40) }));
  const broken = { commit: 'b'.repeat(40), author: 'bo@acme.example', subject: 'Rename a team' };
  await history.addPass(
    passOf(null, { ...broken, outcome: 'failed', error: 'teams.yaml:3:1: a closing " is missing' }),
  );
}

function parts(): OrganizationParts {
  const overview = new ClusterOverview({ now: () => NOW });
  const read = (label: string, weeklyPulse: readonly number[]) =>
    overview
      .events()
      .onRead?.([{ cluster: someCluster({ id: label, label, weeklyPulse }), verdict: { passes: true } }]);
  read('How do I export?', [4, 4, 4]);
  read('How do I rotate keys?', [0, 4, 12]);
  const nothing = { waiting: null, isSending: false, refused: null, isDiscarded: false, leftOut: null };
  return {
    ...{ clusters: { enabled: true }, overview, sources: [{ name: 'help', zendesk: {}, pollInterval: MINUTE }] },
    status: { sources: [someSource()] },
    known: { '4109': [{ ...nothing, key: 'zendesk/help/4109', source: 'help', sentAt: YESTERDAY }] },
  };
}

/** Does a task from the overview of the organization. Returns the number of clicks; typing is none. */
async function clicksOf(tab: Page, overview: string, task: (click: (what: Locator) => Promise<void>) => Promise<void>) {
  let clicks = 0;
  await tab.goto(overview);
  await task(async (what) => {
    clicks += 1;
    await what.click();
    await tab.waitForLoadState();
  });
  return clicks;
}

test.runIf(hasBrowser)('each task takes few clicks from the overview', async () => {
  await using page = await open();
  const { tab, problems, asked, overview } = page;
  const see = (text: string | RegExp) => tab.getByText(text).first().waitFor({ timeout: 10_000 });

  const decided = await clicksOf(tab, overview, async (click) => {
    await see('Deletes the team B');
    await see('0 of 1 approvals so far');
    await click(tab.getByText('Approve…'));
    await tab.getByRole('textbox', { name: 'Reason', exact: true }).fill('nobody uses it');
    await click(tab.getByRole('button', { name: 'Approve 1 change' }));
    await see('Approved.');
  });
  expect(decided).toBe(2);
  expect(asked).toMatchObject([['act', 'acme', { subcommand: 'approve', reason: 'nobody uses it' }]]);

  const broken = await clicksOf(tab, new URL('/', overview).href, async (click) => {
    await see('Manifests have been invalid');
    await click(tab.getByRole('link', { name: 'acme' }));
    await see(/Invalid since commit bbbbbbb by bo@acme\.example: Rename a team/);
    await see('teams.yaml:3');
  });
  expect(broken).toBe(1);

  const explained = await clicksOf(tab, overview, async (click) => {
    await click(tab.getByRole('link', { name: /waiting for a person/ }));
    await click(tab.getByRole('link', { name: 'B', exact: true }));
    await see(/deleting teams needs approval|needs approval/);
  });
  expect(explained).toBe(2);

  const sent = await clicksOf(tab, overview, async (click) => {
    await click(tab.getByRole('link', { name: 'Conversations' }));
    await tab.getByLabel('Number, key or address of a ticket').fill('#4109');
    await click(tab.getByRole('button', { name: 'Find' }));
    await see(/^Sent .* ago\./);
  });
  expect(sent).toBe(2);

  const grows = await clicksOf(tab, overview, async (click) => {
    await click(tab.getByRole('link', { name: 'How do I rotate keys?' }));
    await see('Rising: 12 this week, 4 last week.');
  });
  expect(grows).toBe(1);
  expect(problems).toEqual([]);
});
