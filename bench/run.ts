/**
 * Measures Octavo as it is installed, as whole processes, compared with a minimal client that sends the same requests.
 *
 *   npm run bench -- [--case TEXT]... [--runs N] [--list]
 *   npm run bench -- --case growth    time for twice as much over time for once as much, of every command
 *
 * The platform runs in another process and answers after 20 ms. Runs of Octavo and of the floor are made in turn, and
 * a ratio is the median of theirs pair by pair. It needs Linux for the daemon's figures. It is not a test and never fails.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import { DAEMON_CASES } from './daemon.ts';
import { type Figure, HEADING, line } from './figures.ts';
import { GROWTH_CASES } from './growth.ts';
import { INGESTION_CASES } from './ingestion.ts';
import { RATE_CASES } from './rate-limit.ts';
import { buildStage } from './stage.ts';

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '3' },
    list: { type: 'boolean', default: false },
  },
});
const all = [...CASES, ...RATE_CASES, ...DAEMON_CASES, ...INGESTION_CASES, ...GROWTH_CASES];
const chosen = all.filter(({ name }) => values.case.length === 0 || values.case.some((part) => name.includes(part)));
if (values.list) {
  process.stdout.write(`${all.map(({ name }) => name).join('\n')}\n`);
} else {
  await measureAll();
}

async function measureAll(): Promise<void> {
  const stage = buildStage();
  const figures: Figure[] = [];
  try {
    process.stdout.write(HEADING);
    for (const each of chosen) {
      const found = await each.measure(stage, Number(values.runs));
      process.stdout.write(found.map(line).join(''));
      figures.push(...found);
    }
  } finally {
    rmSync(stage.folder, { recursive: true, force: true });
  }
  const results = fileURLToPath(new URL('results/', import.meta.url));
  mkdirSync(results, { recursive: true });
  const at = new Date().toISOString();
  const report = { at, node: process.version, processors: cpus().length, runs: Number(values.runs), figures };
  const file = `${results}${at.replaceAll(/[:.]/g, '-')}.json`;
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`\n${file}\n`);
}
