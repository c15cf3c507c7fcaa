/** Embedded platform for tests of cluster runs. */
import type { Clock } from '../../src/core/clock.ts';
import { TransientError } from '../../src/core/errors.ts';
import { answer, apiRouter } from '../../src/emulator/api.ts';
import { writeContent } from '../../src/emulator/content/edit.ts';
import type { ChangeRequestRecord } from '../../src/emulator/content/records.ts';
import type { Impact } from '../../src/emulator/conversations/records.ts';
import type { Features, PlatformVersion } from '../../src/emulator/emulator.ts';
import { createStore } from '../../src/emulator/families.ts';
import { ALL_FEATURES, getFeatures } from '../../src/emulator/model/features.ts';
import type { EmulatorStore } from '../../src/emulator/model/store.ts';
import { defaultState } from '../../src/emulator/organizations/seed.ts';
import type { Connection } from '../../src/platform/connection.ts';
import type { HttpAnswer, HttpRequest } from '../../src/platform/http/transport.ts';
import { AttemptSignal } from '../../src/queue/request.ts';
import { noStreams } from '../support/no-streams.ts';
import { NOW } from './samples.ts';

export const ORGANIZATION = 'org_acme';
const PERSON = { user: 'ana@acme.example', permission: 'admin' } as const;

/** A request of a daemon as the platform receives it. */
export interface Seen {
  readonly daemon: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly body: string;
}

/** Phase of a request: received, processed, or about to be answered. */
export type Step = 'arrives' | 'done' | 'leaves';

export interface SeedCluster {
  readonly id: string;
  readonly label?: string;
  readonly issues?: number;
  readonly impact?: Impact;
  readonly muted?: boolean;
  readonly source?: string;
  /** Milliseconds before NOW. */
  readonly age?: number;
  readonly updated?: number;
}

/** The embedded platform in this process, at a time that the test sets. */
export class ClusterPlatform implements Disposable {
  readonly store: EmulatorStore = createStore();
  readonly requests: Seen[] = [];
  features: Features = ALL_FEATURES;
  time = NOW;
  /** Milliseconds by which the local clocks of daemons are ahead of the platform's, by daemon. */
  readonly skews: Record<string, number> = {};
  /** True if creations of change requests lose their description, but keep their link. */
  readonly dropsDescriptions: boolean = false;
  /** True if answers have a `Date`. */
  hasDates = true;
  /** Called at every phase of every request of a daemon; may wait, and throw if no answer is to arrive. */
  step: (seen: Seen, step: Step) => Promise<void> | void = () => undefined;
  /** Changes the bodies of answers. */
  answers: (seen: Seen, body: unknown) => unknown = (_, body) => body;
  /** Called when a daemon waits. */
  waits: (daemon: string, milliseconds: number) => Promise<void> | void = () => undefined;
  /** Site whose topics are the clusters, on a platform without clusters. */
  site: string | undefined;
  readonly #router = apiRouter();

  constructor(spaces: readonly string[] = ['guides', 'api']) {
    this.store.load(defaultState());
    for (const id of spaces) {
      this.addSpace(id);
    }
  }

  [Symbol.dispose](): void {
    this.requests.length = 0;
  }

  /** Switches to a platform of this version, whose clusters are the topics of a site. */
  be(version: PlatformVersion): void {
    this.features = getFeatures(version);
    this.site = this.call('POST', `/orgs/${ORGANIZATION}/sites`, { title: 'Docs' }).id;
  }

  addSpace(id: string, over: object = {}): void {
    const at = new Date(NOW).toISOString();
    this.store.spaces.put({
      ...{ id, seq: this.store.next(), rank: this.store.next(), organization: ORGANIZATION, title: `The ${id}` },
      ...{ editMode: 'live', defaultLevel: 'inherit', mergeRules: { type: 'inherit' }, revision: `rev_${id}` },
      ...{ createdAt: at, updatedAt: at },
      ...over,
    } as never);
  }

  addPage(space: string, title: string, body = ''): void {
    const at = new Date(NOW).toISOString();
    const { id, seq } = this.store.identify('pag');
    this.store.pages.put({ id, seq, space, title, path: id, body, createdAt: at, updatedAt: at });
  }

  addCluster(cluster: SeedCluster): void {
    const { id, muted = false, age = 86_400_000, updated = age, issues = 3 } = cluster;
    this.store.issuesClusters.put({
      ...{ id, seq: this.store.next(), organization: ORGANIZATION, site: this.site, muted },
      createdAt: new Date(NOW - age).toISOString(),
      updatedAt: new Date(NOW - updated).toISOString(),
    });
    this.addIssues(cluster, issues, NOW - updated);
  }

  /** Adds issues to a cluster, each with a conversation of its own. */
  addIssues(cluster: SeedCluster, count: number, at = this.time): void {
    const { id, label = `About ${id}`, impact = 'high', source = 'email' } = cluster;
    const createdAt = new Date(at).toISOString();
    for (let index = 0; index < count; index += 1) {
      const conversation = this.store.identify('cnv');
      this.store.conversations.put({
        ...{ ...conversation, organization: ORGANIZATION, site: this.site, source, externalId: conversation.id },
        ...{ content: { subject: label, parts: [], metadata: { url: `https://help.example/${conversation.id}` } } },
        ...{ createdAt, ingestedAt: createdAt, received: 1, repeats: 0, run: null, processedAt: createdAt },
      });
      this.store.conversationIssues.put({
        ...{ ...this.store.identify('iss'), organization: ORGANIZATION, site: this.site, cluster: id },
        conversation: conversation.id,
        ...{ title: label, excerpt: '', impact, terms: {}, createdAt, ingestedAt: createdAt },
      });
    }
    const record = this.store.issuesClusters.get(id);
    if (record !== undefined && count > 0 && Date.parse(record.updatedAt) < at) {
      this.store.issuesClusters.put({ ...record, updatedAt: createdAt });
    }
  }

  /** Edits a change request as a person. */
  edit(id: string | undefined): void {
    const record = this.store.changeRequests.get(id ?? '');
    const space = this.store.spaces.get(record?.space ?? '');
    if (record === undefined || space === undefined) {
      throw new Error(`there is no change request ${id}`);
    }
    const pages = [{ title: `Answer ${this.store.next()}`, body: 'Do this.' }];
    writeContent(
      { store: this.store, at: new Date(this.time).toISOString() },
      { space, changeRequest: record },
      { pages },
    );
  }

  /** Edits a change request as a person and merges it. */
  merge(id: string | undefined): void {
    this.edit(id);
    this.call('POST', `/spaces/${this.store.changeRequests.get(id ?? '')?.space}/change-requests/${id}/merge`);
  }

  /** Sends a request of a person, with an immediate answer. Throws unless it succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of every shape
  call(method: string, path: string, body?: unknown): any {
    const { status, body: answered } = this.#answer(
      method,
      `/v1${path}`,
      '',
      body === undefined ? null : JSON.stringify(body),
    );
    if (status >= 300) {
      throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answered)}`);
    }
    return answered;
  }

  /** The next requests of this operation are not answered, before or after they take effect. */
  fail(operation: string, when: Step, error: Error = new TransientError('killed', true)): void {
    this.step = (seen, step) => {
      if (seen.operation === operation && step === when) {
        throw error;
      }
    };
  }

  /** All change requests, oldest first. */
  get changeRequests(): readonly ChangeRequestRecord[] {
    return [...this.store.changeRequests.all()].sort((a, b) => a.seq - b.seq);
  }

  statuses(): readonly string[] {
    return this.changeRequests.map(
      ({ conversationsIssuesCluster, space, status }) => `${conversationsIssuesCluster} ${space} ${status}`,
    );
  }

  /** Number of requests per operation since the last call. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { operation } of this.requests.splice(0)) {
      counts[operation] = (counts[operation] ?? 0) + 1;
    }
    return counts;
  }

  /** Transport of a daemon, without a queue: the test decides about delays and retries. */
  connect(daemon: string): Connection {
    const clock = this.clock(daemon);
    const queue = { request: retrying } as unknown as Connection['queue'];
    return {
      baseUrl: 'http://platform.example',
      origin: 'http://platform.example',
      queue,
      transport: { ...noStreams, send: (request) => this.#send(daemon, request) },
      clock,
      close: async () => undefined,
    };
  }

  clock(daemon: string): Clock {
    return {
      now: () => this.time + (this.skews[daemon] ?? 0),
      monotonic: () => this.time,
      sleep: async (milliseconds) => {
        await this.waits(daemon, milliseconds);
      },
    };
  }

  async #send(daemon: string, request: HttpRequest): Promise<HttpAnswer> {
    const [path = '', search] = request.path.split('?');
    const operation = this.#router.find(request.method, path)?.operation.name ?? 'unknown';
    const seen = { daemon, operation, method: request.method, path, search: search ?? '', body: request.body ?? '' };
    await this.step(seen, 'arrives');
    this.requests.push(seen);
    const isCut = this.dropsDescriptions && operation === 'createChangeRequest' && request.body !== null;
    const body = isCut ? JSON.stringify({ ...JSON.parse(request.body ?? ''), description: undefined }) : request.body;
    const answered = this.#answer(request.method, path, search === undefined ? '' : `?${search}`, body);
    await this.step(seen, 'done');
    await this.step(seen, 'leaves');
    const text = answered.body === undefined ? '' : JSON.stringify(this.answers(seen, answered.body));
    const headers: Record<string, string> = this.hasDates ? { date: new Date(this.time).toUTCString() } : {};
    return { status: answered.status, headers, receivedAt: this.time, body: text };
  }

  #answer(method: string, path: string, search: string, body: string | null) {
    const context = {
      ...{ store: this.store, now: this.time, at: new Date(this.time).toISOString(), base: 'http://platform.example' },
      ...{
        features: this.features,
        processing: { openapi: 0, translation: 0, conversations: 0 },
        defaults: {},
        pageSize: 50,
      },
    };
    return answer(context, PERSON, this.#router.find(method, path), {
      ...{ method, path, search, contentType: 'application/json' },
      body: body === null ? Buffer.alloc(0) : Buffer.from(body),
    });
  }
}

/** A platform with these clusters. */
export function platformWith(...clusters: readonly SeedCluster[]): ClusterPlatform {
  const platform = new ClusterPlatform();
  for (const cluster of clusters) {
    platform.addCluster(cluster);
  }
  return platform;
}

/** Converts failures as the queue does, without its delays. */
async function retrying(job: Parameters<Connection['queue']['request']>[0]): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    const error = await job.attempt(new AttemptSignal()).then(
      ({ result }) => {
        if (result.ok) {
          return { value: result.value };
        }
        return result.error;
      },
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Error)) {
      return (error as { value: unknown }).value;
    }
    const mayRetry = error instanceof TransientError && (job.repeat !== 'never' || !error.maybeDone);
    if (!mayRetry || attempt === 3) {
      throw error;
    }
  }
}
