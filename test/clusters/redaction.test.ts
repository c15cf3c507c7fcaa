/*
 * Redaction of everything that tickets bring to the platform, before it is written anywhere: tested with planted
 * values.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { draftSubject } from '../../src/clusters/change-request.ts';
import type { handleClusterRequest } from '../../src/clusters/control-api.ts';
import { buildDescription } from '../../src/clusters/description.ts';
import type { ClusterEvents } from '../../src/clusters/events.ts';
import { redactCluster, redactError } from '../../src/clusters/redaction.ts';
import { ClusterStore, readStoredClusters } from '../../src/clusters/store.ts';
import { createTextRedaction } from '../../src/conversations/redact/text-redaction.ts';
import { RejectedError } from '../../src/core/errors.ts';
import { EventBus } from '../../src/core/event-bus.ts';
import { createLogger } from '../../src/log.ts';
import { toMarkdown } from '../../src/platform/rich-text/to-markdown.ts';
import { logClusters } from '../../src/server/event-logs.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { openDaemon, type TestDaemonOptions } from './run-daemon.ts';
import { ClusterPlatform, platformWith } from './run-platform.ts';
import { DAY, settingsOf, someCluster } from './samples.ts';

const redaction = createTextRedaction({
  patterns: [],
  allow: [],
  disabledTypes: [],
  phoneRegions: ['US', 'DE'],
  guessNames: true,
});

/** A value of each type. The number makes values distinct where possible. */
const KINDS: Readonly<Record<string, (number: number) => string>> = {
  email: (number) => `zelda.q${number}@corp${number}.com`,
  phone: (number) => `+44 20 7946 0${100 + (number % 900)}`,
  card: () => '4111 1111 1111 1111',
  iban: () => 'DE89 3704 0044 0532 0130 00',
  ssn: () => '536-90-4399',
  ip: (number) => `81.2.69.${number % 250}`,
  key: (number) => `ghp_${String(number).padStart(4, '0')}${'aB3dE6gH9jK2mN5p'.repeat(2)}`,
  password: (number) => `password: Tr0ub4dor${number}x`,
};

/** Part of a value that must not appear anywhere. */
const secretPart = (value: string) => value.replace('password: ', '');

class Planted {
  readonly values: string[] = [];
  readonly #kinds: readonly string[];

  constructor(kinds: readonly string[]) {
    this.#kinds = kinds;
  }

  next(): string {
    const kind = this.#kinds[this.values.length % this.#kinds.length] ?? 'email';
    const value = KINDS[kind]?.(this.values.length) ?? '';
    this.values.push(secretPart(value));
    return value;
  }

  /** Planted values that a text contains. */
  in(text: string): readonly string[] {
    return [...new Set(this.values)].filter(
      (value) => text.includes(value) || text.includes(encodeURIComponent(value)),
    );
  }
}

/** Fields that requests need, and fields that are neither text nor an address. */
const KEPT = new Set(['id', 'object', 'type', 'kind', 'createdAt', 'updatedAt', 'ingestedAt', 'cluster', 'page']);

/** A copy with a planted value in every text, in every name of a source, and in an undocumented author field. */
function plant(value: unknown, key: string, planted: Planted): unknown {
  if (typeof value === 'string') {
    if (KEPT.has(key)) {
      return value;
    }
    const planting = planted.next();
    return /^https?:/.test(value) ? `${value}?q=${encodeURIComponent(planting)}` : `${value} ${planting} and more`;
  }
  if (Array.isArray(value)) {
    return value.map((each) => plant(each, key, planted));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const members = Object.entries(value).map(([name, each]) =>
    key === 'sources' ? [`${name} ${planted.next()}`, each] : [name, plant(each, name, planted)],
  );
  return { ...Object.fromEntries(members), ...(key === 'issue' ? { author: { name: planted.next() } } : {}) };
}

const settings = (over: object = {}) =>
  settingsOf({
    ...{ enabled: true, defaultSpace: 'guides', select: { impact: [], sources: [] } },
    changeRequest: { reviewers: ['cy@acme.example'] },
    afterMerge: { mute: true },
    ...over,
  });

/** Puts planted values into every answer about clusters, issues and conversations. */
function plantedPlatform(planted: Planted): ClusterPlatform {
  const platform = new ClusterPlatform();
  platform.answers = ({ operation }, body) => {
    if (!/Conversation(Cluster|Issue)/.test(operation)) {
      return body;
    }
    return plant(structuredClone(body), 'items', planted);
  };
  return platform;
}

async function everything(kinds: readonly string[]): Promise<{ planted: Planted; written: string }> {
  const planted = new Planted(kinds);
  const platform = plantedPlatform(planted);
  const written: string[] = [];
  const log = createLogger({
    ...{ level: 'debug', format: 'json', secrets: [] },
    destination: { write: (line: string) => void written.push(line) },
  } as never);
  const metrics = createMetrics();
  const note = openMemoryStore().note('clusters');
  const bus = new EventBus<ClusterEvents>();
  const kept = keeping(written);
  for (const each of [logClusters(log), metrics.clusters.events('org_acme', () => platform.time), kept]) {
    bus.subscribe(each);
  }
  const names = Object.keys(kept) as (keyof ClusterEvents)[];
  const events = Object.fromEntries(names.map((name) => [name, bus.publish[name]]));
  const options: TestDaemonOptions = { note, redaction, events };
  for (const id of ['c_1', 'c_2', 'c_3', 'c_4']) {
    platform.addCluster({ id, issues: 4 });
  }
  // A change request of a person, and a draft of a daemon that lost its state.
  const subject = (value: string) => `Docs gap: ${value}`;
  const made = (cluster: string, status: string) => {
    const { id } = platform.call('POST', '/spaces/guides/change-requests', {
      ...{ subject: subject(planted.next()), conversationsIssuesCluster: cluster },
    });
    platform.call('PATCH', `/spaces/guides/change-requests/${id}`, { status });
    return id as string;
  };
  made('c_2', 'open');
  const old = made('c_3', 'draft');
  const record = platform.store.changeRequests.get(old);
  const description = buildDescription({
    ...{ cluster: someCluster({ id: 'c_3' }), issues: [], pages: [], template: null, most: 0, claim: 'abcdefgh' },
  });
  platform.store.changeRequests.put({ ...record, subject: draftSubject('abcdefgh', 'c_3'), description } as never);
  platform.time += DAY / 12;
  const dry = openDaemon(platform, settings(), { ...options, dryRun: true });
  written.push(JSON.stringify(await dry.run()));
  const daemon = openDaemon(platform, settings(), options);
  const ask = async (question: Parameters<typeof handleClusterRequest>[1]) =>
    written.push(JSON.stringify(await daemon.ask(question)));
  await ask({ subcommand: 'list' });
  await ask({ subcommand: 'open', cluster: 'c_4', space: null, dryRun: true });
  await ask({ subcommand: 'mute', cluster: 'c_4', muted: true, dryRun: true });
  // The platform's errors quote what they reject.
  platform.step = ({ operation }, step) => {
    if (operation === 'requestReviewers' && step === 'arrives') {
      throw new RejectedError(`not for ${planted.next()}`, 403);
    }
  };
  written.push(JSON.stringify(await daemon.run()));
  platform.time += DAY + 1;
  platform.addIssues({ id: 'c_1' }, 3);
  written.push(JSON.stringify(await daemon.run()));
  platform.merge(
    platform.changeRequests.find(
      ({ status, conversationsIssuesCluster }) => status === 'open' && conversationsIssuesCluster === 'c_1',
    )?.id,
  );
  platform.time += DAY;
  await daemon.run();
  platform.step = ({ operation }, step) => {
    if (operation === 'listConversationClusters' && step === 'arrives') {
      throw new RejectedError(`broken for ${planted.next()}`, 400);
    }
  };
  const end = await daemon.run();
  expect(end.outcome).toBe('failed');
  written.push(String(end.error?.message));
  await expect(daemon.ask({ subcommand: 'list' })).rejects.toSatisfy((error: Error) => {
    written.push(error.message);
    return true;
  });
  written.push(
    JSON.stringify(await note.read()),
    await metrics.registry.metrics(),
    ...platform.requests.map(({ path, search, body }) => `${path}?${decodeURIComponent(search)} ${body}`),
  );
  // Every step of the flow was reached.
  const operations = new Set(platform.requests.map(({ operation }) => operation));
  expect([...operations]).toEqual(
    expect.arrayContaining(['createChangeRequest', 'postChangeRequestComment', 'searchOrganization']),
  );
  const eventsOf = (start: string) => written.filter((line) => line.startsWith(start));
  for (const event of ['onCommented', 'onMerged', 'onMuted', 'onSuperseded', 'onTrouble', 'onWouldOpen', 'onSkipped']) {
    expect(eventsOf(`${event} `), event).not.toEqual([]);
  }
  return { planted, written: written.join('\n') };
}

/** Records everything that a listener receives, after its name. */
function keeping(written: string[]) {
  const names = 'Opened WouldOpen Merged Archived Reopened Superseded Commented Muted Skipped Trouble RunEnd'.split(
    ' ',
  );
  const keep = (name: string) => (event: unknown) => void written.push(`on${name} ${JSON.stringify(event)}`);
  return Object.fromEntries(names.map((name) => [`on${name}`, keep(name)]));
}

test('writes no private value of a ticket to dry runs, lists, comments, logs, metrics or the state', async () => {
  for (const [kind, value] of Object.entries(KINDS)) {
    expect(redaction.text(`We saw ${value(1)} and more`), kind).not.toContain(secretPart(value(1)));
  }
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(Object.keys(KINDS), { minLength: 1 }), async (kinds) => {
      const { planted, written } = await everything(kinds);
      expect(planted.values.length).toBeGreaterThan(50);
      expect(planted.in(written)).toEqual([]);
    }),
    { numRuns: 4, endOnFailure: true },
  );
}, 60_000);

describe('a cluster summary', () => {
  const summaryOf = (summary: unknown) => redactCluster(someCluster({ summary }), redaction).summary;

  test.each<[string, string, string]>([
    ['a value in bold', 'Write to **zelda@corp.com** now.', 'zelda@corp.com'],
    ['a value that formatting splits', 'Write to zelda**@corp**.com now.', 'zelda@corp.com'],
    ['a value in a code block', '```\ncurl -u x\nAKIAQX3ZB7KPLM2TN5WV\n```', 'AKIAQX3ZB7KPLM2TN5WV'],
    ['a value in a URL', 'See [this](https://help.example/t?mail=zelda%40corp.com).', 'zelda%40corp.com'],
    ['an escaped value', 'Write to zelda\\_q@corp.com', 'zelda_q@corp.com'],
  ])('with %s is redacted', (_, markdown, value) => {
    const redacted = summaryOf(markdown);
    expect(JSON.stringify(redacted)).not.toContain(value);
    expect(toMarkdown(redacted)).not.toContain(value);
  });

  test('without private data keeps its formatting', () => {
    const markdown = '**SSO** fails with `SAML_STATE`:\n\n1. Open [the page](https://docs.example/sso)\n2. Sign in';
    expect(summaryOf(markdown)).toBe(markdown);
  });
});

test('redacts and rewrites a record of an older version when it is read', async () => {
  const platform = platformWith({ id: 'c_1' });
  const note = openMemoryStore().note('clusters');
  await openDaemon(platform, settings(), { note }).run();
  const raw = JSON.parse(JSON.stringify(await note.read()).replaceAll('About c_1', 'From zelda@corp.com'));
  await note.write({ ...raw, examples: { c_1: ['Ask zelda@corp.com'] } });
  await ClusterStore.open(note, raw.settings, { keeps: true, redaction });
  expect(JSON.stringify(await note.read())).not.toContain('zelda');
  expect(JSON.stringify(await note.read())).toContain('From [EMAIL_1]');
  expect((await readStoredClusters(note)).examples.get('c_1')).toEqual(['Ask [EMAIL_1]']);
});

test('keeps two redacted titles of the issues that a run read, also after a restart, and none that it did not read', async () => {
  const platform = platformWith({ id: 'c_1', label: 'Login' }, { id: 'c_2', muted: true });
  for (const label of ['Locked out, ask zelda@corp.com', 'Sent back to the login page', 'Third']) {
    platform.addIssues({ id: 'c_1', label }, 1);
  }
  const note = openMemoryStore().note('clusters');
  await openDaemon(platform, settings(), { note, redaction }).run();
  const { examples } = await readStoredClusters(note);
  expect([...examples.keys()]).toEqual(['c_1']);
  expect(examples.get('c_1')).toHaveLength(2);
  expect(JSON.stringify([...examples])).not.toContain('zelda');
  expect(await openDaemon(platform, settings(), { note, redaction }).run()).toMatchObject({ opened: 0 });
  expect((await readStoredClusters(note)).examples).toEqual(examples);
});

test('a redacted error keeps its class', () => {
  const error = redactError(new RejectedError('no zelda@corp.com', 403), redaction);
  expect(error).toBeInstanceOf(RejectedError);
  expect(error).toMatchObject({ message: 'no [EMAIL_1]', status: 403 });
});

test('does not redact reviewers that the configuration names', async () => {
  const platform = platformWith({ id: 'c_1' });
  const messages: string[] = [];
  const events = { onTrouble: ({ message }: { message: string }) => void messages.push(message) };
  const reviewers = ['nobody@acme.example'];
  await openDaemon(platform, settings({ changeRequest: { reviewers } }), { redaction, events }).run();
  expect(messages).toEqual(['nobody@acme.example is not a possible reviewer']);
});
