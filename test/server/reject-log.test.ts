/** Lines of the log about rejected records. */
import { Writable } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import type { ConversationEvents } from '../../src/conversations/model/source.ts';
import { createLogger } from '../../src/log.ts';
import { logConversations } from '../../src/server/event-logs.ts';

let lines: string[];
let events: ConversationEvents;

beforeEach(() => {
  lines = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(...String(chunk).split('\n').filter(Boolean));
      done();
    },
  });
  const log = createLogger({ level: 'info', format: 'json', secrets: [], destination });
  events = logConversations(log);
});

const warnings = () =>
  lines
    .map((line) => JSON.parse(line))
    .flatMap(({ level, pid: _, time: __, ...fields }) => (level === 40 ? [fields] : []));
const rejected = (source: string, place: string) => ({
  ...{ source, place, reason: 'is not valid JSON' },
  msg: 'record rejected',
});
const reject = (source: string, place: string) => events.onRejected?.({ source, place, reason: 'is not valid JSON' });
const take = (source: string, rejected: number) =>
  events.onIntake?.({
    ...{ source, found: rejected, rejected, waiting: 0, unchanged: 0, withdrawn: 0, gone: 0, incomplete: 0 },
    ...{ skipped: {}, redacted: {} },
  });

test.each<[string, (source: string) => void]>([
  ['a poll', (source) => events.onPollEnd?.({ source, error: null, again: 1 })],
  ['a push', (source) => events.onFilesEnd?.({ source })],
])('logs six lines for a file with 100,000 invalid records at the end of %s', (_what, end) => {
  for (let line = 1; line <= 100_000; line += 1) {
    reject('drop', `tickets.ndjson:${line}`);
    if (line % 100 === 3) {
      take('drop', 100);
    }
  }
  expect(warnings()).toEqual([1, 2, 3, 4, 5].map((line) => rejected('drop', `tickets.ndjson:${line}`)));
  end('other');
  expect(warnings()).toHaveLength(5);
  end('drop');
  expect(warnings().slice(5)).toEqual([
    {
      ...{ source: 'drop', records: 99_995, msg: 'more records rejected' },
      ...{ rejectFiles: ['tickets.ndjson.rejects.ndjson'], moreRejectFiles: 0 },
    },
  ]);
  // The next poll starts over.
  reject('drop', 'next.csv:7');
  end('drop');
  expect(warnings().slice(6)).toEqual([rejected('drop', 'next.csv:7')]);
});

test('names the first few of many files', () => {
  for (let file = 1; file <= 12; file += 1) {
    reject('drop', `${file}.csv:1`);
  }
  events.onPollEnd?.({ source: 'drop', error: null, again: 1 });
  expect(warnings().at(-1)).toEqual({
    ...{ source: 'drop', records: 7, msg: 'more records rejected' },
    ...{ rejectFiles: [6, 7, 8].map((file) => `${file}.csv.rejects.ndjson`), moreRejectFiles: 4 },
  });
});

test('summarizes the rejected records of a webhook immediately', () => {
  const addRejections = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      reject('forms', `webhook/forms[${index}]`);
    }
    take('forms', count);
  };
  addRejections(1000);
  expect(warnings().slice(5)).toEqual([{ source: 'forms', records: 995, msg: 'more records rejected' }]);
  addRejections(2);
  expect(warnings().slice(6)).toHaveLength(2);
});
