/** A daemon in this process whose store fails at random, with everything around it that receives something. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { loadConfig } from '../../../src/config/load.ts';
import { createDaemon, type Daemon } from '../../../src/daemon.ts';
import { kinds } from '../../../src/kinds/registry.ts';
import { createLogger } from '../../../src/log.ts';
import { openMemoryDatabase } from '../../../src/store/memory.ts';
import type { SqlDatabase } from '../../../src/store/sql/database.ts';
import { openSqlStore, type Store } from '../../../src/store/store.ts';
import { FakeGitHubStatuses, FakeStatusForge } from '../../support/fake-status-forge.ts';
import { FakeReceiver, type ReceivedRequest, type ReceiverReply } from '../../support/notify/fake-receiver.ts';
import { createQuietClock, type QuietClock } from '../../support/quiet-clock.ts';
import { FailingDatabase, type FateOf } from '../../support/store-faults.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const KEY = Buffer.from('a key for the tests of webhooks!').toString('base64');
const SECRET = `whsec_${Buffer.from('canary-of-the-signing-secret').toString('base64')}`;
const ORGANIZATION = 'org_acme';

/** A message of a channel. */
export interface Message {
  readonly id: string;
  readonly code: string;
  /** Null: an event. */
  readonly state: string | null;
  readonly text: string;
}

/** Receiver of notifications in virtual time, which checks no signature. */
class MessageReceiver extends FakeReceiver {
  readonly messages: Message[] = [];

  protected handle({ headers, body }: ReceivedRequest): ReceiverReply {
    const { data } = JSON.parse(body) as { data: { code: string; state?: string } };
    this.messages.push({ id: String(headers['webhook-id']), code: data.code, state: data.state ?? null, text: body });
    return { status: 200 };
  }
}

/** The daemon, its platform, its repository, its forge, its drop folder and its channel. */
export class FailingDaemon implements AsyncDisposable {
  readonly work: Workspace;
  readonly clock: QuietClock;
  readonly forge: FakeStatusForge;
  readonly receiver: MessageReceiver;
  /** The store without faults. */
  readonly store: Store;
  readonly log: string[] = [];
  /** Decides about each operation. */
  fate: FateOf = () => 'works';
  readonly #database: SqlDatabase;
  readonly #drop: string;
  #daemon: Daemon | null = null;
  #files = 0;

  private constructor(parts: Pick<FailingDaemon, 'work' | 'clock' | 'forge' | 'receiver'>, database: SqlDatabase) {
    this.work = parts.work;
    this.clock = parts.clock;
    this.forge = parts.forge;
    this.receiver = parts.receiver;
    this.#database = database;
    this.store = openSqlStore(database, null);
    this.#drop = join(this.work.folder, 'drop');
    mkdirSync(this.#drop);
  }

  static async open(openDatabase: (folder: string) => SqlDatabase = openMemoryDatabase): Promise<FailingDaemon> {
    const work = await openWorkspace({ processing: { openapi: 0, translation: 0, conversations: 0 } });
    const forge = await new FakeGitHubStatuses().listen();
    const receiver = await new MessageReceiver().listen();
    return new FailingDaemon({ work, clock: createQuietClock(), forge, receiver }, openDatabase(work.folder));
  }

  /** Adds a line to the log, with the virtual time. */
  tell(what: string): void {
    this.log.push(`${new Date(this.clock.now()).toISOString().slice(11, 19)} ${what}`);
  }

  get isRunning(): boolean {
    return this.#daemon !== null;
  }

  /** Starts the daemon. Rejects if it cannot, and leaves nothing behind. */
  async start(random: () => number): Promise<void> {
    const config = this.#config();
    const destination = new Writable({
      write: (chunk, _encoding, done) => {
        const { msg, reason = '', address = '', outcome = '' } = JSON.parse(String(chunk)) as Record<string, string>;
        this.tell(`${msg} ${address}${outcome} ${reason}`);
        done();
      },
    });
    const log = createLogger({ level: 'info', format: 'json', secrets: config.secrets, destination });
    const failing = new FailingDatabase(this.#database, (operation) => this.fate(operation));
    const { clock } = this;
    const store = { ...openSqlStore(failing, null), close: async () => undefined };
    const daemon = await this.clock.run(
      createDaemon({
        ...{ config, clock, random, log, version: '0', dryRun: false, openStore: () => store },
      }),
    );
    try {
      await this.clock.run(daemon.start());
    } catch (error) {
      await this.clock.run(daemon.stop());
      throw error;
    }
    this.#daemon = daemon;
  }

  async stop(): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = null;
    await this.clock.run(daemon?.stop() ?? Promise.resolve());
  }

  commit(manifest: string, message: string): string {
    return this.work.repository.commit(message, { 'teams.yaml': manifest });
  }

  /** Puts tickets into the drop folder. */
  drop(ids: readonly string[]): void {
    this.#files += 1;
    const text = ids.map((id) => JSON.stringify(ticket(id))).join('\n');
    writeFileSync(join(this.#drop, `${this.#files}.ndjson`), text);
  }

  /** Returns the names of the files that are still in the drop folder. */
  get dropped(): readonly string[] {
    return readdirSync(this.#drop).filter((name) => name.endsWith('.ndjson'));
  }

  /** Sends a ticket to the webhook. Returns true if it was accepted. */
  async deliver(id: string): Promise<boolean> {
    const body = JSON.stringify(ticket(id));
    const at = new Date(this.clock.now());
    const headers = {
      'content-type': 'application/json',
      'webhook-id': `message-${id}`,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(KEY).sign(`message-${id}`, at, body),
    };
    const url = `${this.#daemon?.address}/hooks/${ORGANIZATION}/forms`;
    // A sender repeats a request whose connection breaks.
    const response = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    await response?.text();
    return response?.status === 202;
  }

  /** Conversations at the platform: the ids, and how often each was sent in vain. */
  get conversations(): ReadonlyMap<string, number> {
    const { conversations = [] } = this.work.emulator.state();
    return new Map(
      conversations.map(({ externalId, repeats }) => [String(externalId).split('/').at(-1) ?? '', repeats]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.fate = () => 'works';
    await this.stop();
    await this.store.close();
    await this.receiver[Symbol.asyncDispose]();
    await this.forge[Symbol.asyncDispose]();
    await this.work[Symbol.asyncDispose]();
    this.clock[Symbol.dispose]();
  }

  #config() {
    const { work, forge, receiver } = this;
    const sources = [
      { name: 'drop', pollInterval: '30s', folder: { path: this.#drop, rejectDirectory: work.folder } },
      { name: 'forms', webhook: { secrets: [`whsec_${KEY}`] } },
    ];
    const file = work.configure({
      organization: {
        source: { git: { url: work.repository.directory, pollInterval: '30s' } },
        conversations: { sources, settleDelay: '0s' },
        limits: { maxDeletions: 1000, maxChangedPercent: 100 },
        forge: { type: 'github', repository: 'acme/docs', apiUrl: forge.apiUrl, token: FakeStatusForge.token },
      },
      top: {
        notifications: {
          channels: { chat: { webhook: { url: `${receiver.url}/in`, secret: SECRET } } },
          routes: [{ channels: ['chat'] }, { channels: ['chat'], codes: ['applied'] }],
          groupWait: '0s',
        },
      },
    });
    const readFile = (name: string) => readFileSync(name, 'utf8');
    return loadConfig({ text: readFile(file), file, env: work.env, readFile, kinds });
  }
}

function ticket(id: string): object {
  return {
    id,
    subject: 'Export fails',
    parts: [
      { type: 'message', role: 'user', body: `The export ${id} fails` },
      { type: 'message', role: 'team-member', body: 'We look into it.' },
    ],
  };
}
