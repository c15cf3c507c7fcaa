import { readFileSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { openWriter } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { openStore } from '../../src/store/open/open-store.ts';
import { CrashingOutbox } from '../support/crashing-outbox.ts';
import { createFastClock } from '../support/fast-clock.ts';
import { createIngestion, type Edit, Helpdesk } from '../support/helpdesk.ts';

/*
 * A separate process for the tests: ingests conversations from a helpdesk whose log is a file, until it is killed. It
 * prints a line after each write to its state. Its clock is accelerated, so that its pauses are short.
 */

const [file = '', log = '', url = '', epoch = '0'] = process.argv.slice(2);
const clock = createFastClock(Number(epoch), 100);
// A process that is killed does not store the code that it compiled; the next one starts faster with it.
flushCompileCache();

/** The helpdesk according to its log; an incomplete line is not read yet. */
class LoggedHelpdesk extends Helpdesk {
  override readonly log: Edit[] = [];

  look(): void {
    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
    this.log.push(...lines.slice(this.log.length).map((line) => JSON.parse(line) as Edit));
  }
}

const desk = new LoggedHelpdesk();
const source = desk.source();
const store = await openStore(
  file.startsWith('postgres:') ? { url: file, pool: 2 } : { path: file },
  clock,
  Math.random,
);
const real = store.outbox('org_1', { items: 20, bytes: 1e6 });
const crashing = new CrashingOutbox(
  real,
  () => undefined,
  () => writeSync(1, '.\n'),
);
const connection = openConnection({
  baseUrl: url,
  token: 'token',
  userAgent: 'octavo/0',
  concurrency: 4,
  clock,
  random: Math.random,
});
const polling = {
  ...source,
  poll: (options: Parameters<typeof source.poll>[0]) => {
    desk.look();
    return source.poll(options);
  },
};
createIngestion({
  sources: [{ name: 'desk', polling, webhook: null, every: 2000, since: 1e15 }],
  outbox: crashing.outbox,
  writer: openWriter(connection, { organization: 'org_1', priority: 'ingestion' }),
  batch: { maxConversations: 3, maxBytes: 1e6 },
  clock,
  random: Math.random,
}).start();
