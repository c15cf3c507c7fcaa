import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { openSqlStore, type Store } from '../../src/store/store.ts';
import { countCases } from '../support/campaign.ts';
import { ConversationSink, type SinkFault } from '../support/conversation-sink.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { Helpdesk, SECRET, type TicketState } from '../support/helpdesk.ts';
import { hasPostgres } from '../support/postgres.ts';
import { spawn } from '../support/programs.ts';
import { shareCluster } from '../support/shared-cluster.ts';

/* A real process, killed with SIGKILL at random points and restarted on the same state file. */

const CHILD = fileURLToPath(new URL('ingest-process.ts', import.meta.url));
const KILLS = countCases({ sample: 3, ci: 8, full: 60 });
const STATES: readonly TicketState[] = ['solved', 'solved', 'solved', 'open', 'private', 'deleted'];
const FAULTS: readonly (SinkFault | null)[] = [null, null, null, 'drop-before', 'drop-after', 500, 429];

let folder: string;
let child: ChildProcess | null = null;
const cluster = shareCluster();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-killed-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Whole numbers below `most`, the same for the same seed. */
function createDice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
}

/** State of the killed processes. */
interface State {
  /** Path of the file, or URL of the database. */
  readonly place: string;
  open(): Promise<Store>;
  /** Returns the keys of the conversations that a killed process was sending. */
  unrecorded(): Promise<readonly string[]>;
  /** Returns everything that is stored. */
  text(): Promise<string>;
}

const UNRECORDED = "SELECT key FROM content WHERE state = 'sending'";

async function sqliteState(): Promise<State> {
  const place = join(folder, 'octavo.db');
  return {
    place,
    open: async () => openSqliteStore(place),
    unrecorded: async () => {
      const database = new DatabaseSync(place);
      try {
        return database.prepare(UNRECORDED).all().map(toKey);
      } finally {
        database.close();
      }
    },
    text: async () => {
      const files = readdirSync(folder).filter((file) => file.startsWith('octavo.db'));
      return files.map((file) => readFileSync(join(folder, file)).toString('latin1')).join('');
    },
  };
}

async function postgresState(): Promise<State> {
  const server = cluster();
  const place = await server.createDatabase();
  const name = place.slice(place.lastIndexOf('/') + 1);
  return {
    place,
    open: async () => openSqlStore(await openPostgresDatabase({ url: place, pool: 2 }), null),
    unrecorded: async () => {
      // A commit that the killed process sent may still be under way; its connection ends after it.
      const others = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}'`;
      while ((await server.query(others)).length > 0) {
        await delay(10);
      }
      return (await server.query(UNRECORDED.replace('content', 'octavo.content'), name)).map(toKey);
    },
    text: async () => {
      const tables = await server.query("SELECT tablename FROM pg_tables WHERE schemaname = 'octavo'", name);
      const rows = tables.map(({ tablename }) => server.query(`SELECT * FROM octavo.${tablename}`, name));
      return JSON.stringify(await Promise.all(rows));
    },
  };
}

function toKey(row: Readonly<Record<string, unknown>>): string {
  return String(row.key);
}

test('sends the latest version of every solved ticket, however often it is killed', async () => {
  await playKills(await sqliteState());
}, 600_000);

test.runIf(hasPostgres)(
  'sends it from PostgreSQL too',
  async () => {
    await playKills(await postgresState());
  },
  600_000,
);

async function playKills(state: State): Promise<void> {
  const seed = Number(process.env.INGEST_SEED ?? 20_260_101);
  const dice = createDice(seed);
  const pick = <T>(list: readonly T[]): T => list[dice(list.length)] as T;
  const log = join(folder, 'desk.log');
  writeFileSync(log, '');
  const desk = new Helpdesk();
  const sink = new ConversationSink();
  let faults: (SinkFault | null)[] = [];
  sink.fault = () => faults.shift() ?? null;
  const server = await sink.listen();
  const epoch = Date.now();

  const edit = (count: number) => {
    for (let n = 0; n < count; n += 1) {
      desk.edit(`${dice(12)}`, pick(STATES), epoch);
      appendFileSync(log, `${JSON.stringify(desk.log.at(-1))}\n`);
    }
  };
  const start = () => {
    child = spawn(...endWithParent(process.execPath, [CHILD, state.place, log, server.url, String(epoch)]), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return { process: child, lines: createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }) };
  };
  const kill = async (process: ChildProcess) => {
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
    sink.orphan(await state.unrecorded());
  };

  try {
    for (let round = 0; round < KILLS; round += 1) {
      edit(5 + dice(10));
      faults = Array.from({ length: dice(6) }, () => pick(FAULTS));
      const { process, lines } = start();
      let writes = 1 + dice(40);
      for await (const _ of lines) {
        writes -= 1;
        if (writes === 5) {
          edit(3);
        }
        if (writes <= 0) {
          break;
        }
      }
      await kill(process);
    }
    faults = [];
    edit(3);
    const { process, lines } = start();
    const isDone = () => {
      const contents = sink.contents;
      return [...desk.expected()].every(([id, words]) => contents.get(id)?.parts[0]?.body === words);
    };
    // The process reports each of its writes, so that no durations are guessed; some more kills cover unnecessary
    // writes.
    let more = 30;
    for await (const _ of lines) {
      more -= isDone() ? 1 : 0;
      if (more <= 0) {
        break;
      }
    }
    await kill(process);
  } finally {
    await server.close();
  }
  expect(`${seed}\n${sink.needless().join('\n')}`).toBe(`${seed}\n`);
  expect(JSON.stringify(sink.attempts)).not.toMatch(SECRET);
  const store = await state.open();
  const status = await store.outbox('org_1', { items: 1, bytes: 1 }).status();
  expect(status.sources[0]).toMatchObject({ waiting: 0, sending: 0, deadLetters: 0 });
  await store.close();
  expect(await state.text()).not.toMatch(SECRET);
}
