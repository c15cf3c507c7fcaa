/** Commands that copy and check a store. */
import { resolve } from 'node:path';
import { ConfigError, EXIT, type ExitCode } from '../core/errors.ts';
import { largest } from '../core/lists.ts';
import { databasePasswords, isPostgresUrl, isUrl, parsePostgresUrl } from '../core/postgres-url.ts';
import { counted, printable } from '../plan/render/words.ts';
import { checkStore, copyStore, type TableSummary } from '../store/open/copy-store.ts';
import { type OpenDatabase, openDatabase, type StorePlace } from '../store/open/open-store.ts';
import { readTrustedConfig } from './cli/config.ts';
import { type CommandContext, printResult } from './cli/context.ts';
import type { StateFlags } from './cli/control-call.ts';

type StoreFlags = Pick<StateFlags, 'config' | 'format'>;

/** Connections of a command: one to read, one to write. */
const POOL = 2;
const CHECKSUM_LENGTH = 12;

/** Copies a store. */
export async function storeCopyCommand(
  from: string,
  to: string,
  { format }: StoreFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const [source, target] = [readPlace(from, context), readPlace(to, context)];
  const { tables, replaced } = await withDatabase(source, true, (opened) =>
    withDatabase(target, false, (other) => copyStore(opened, other, context.signal)),
  );
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  printResult(context, format, { tables, replaced }, [
    ...tableLines(tables),
    ...(replaced === 0
      ? []
      : [`${counted(replaced, 'text')} had characters that PostgreSQL cannot store (U+FFFD instead)`]),
    `Copied ${counted(rows, 'row')}; the checksums of both stores are equal`,
  ]);
  return EXIT.done;
}

/** Checks a store. Returns 1 if something is wrong. */
export async function storeCheckCommand(
  place: string | undefined,
  { config: file, format }: StoreFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const chosen = place === undefined ? (await readTrustedConfig(file, context)).store : readPlace(place, context);
  const { tables, findings } = await withDatabase(chosen, true, ({ database }) => checkStore(database));
  printResult(context, format, { tables, findings }, [
    ...tableLines(tables),
    ...findings.map((finding) => `problem: ${printable(finding)}`),
    findings.length === 0
      ? 'No problems'
      : `${counted(findings.length, 'problem')}; restore a backup (docs/fleet.md#backup-and-restore), or report a bug with this output`,
  ]);
  return findings.length === 0 ? EXIT.done : EXIT.failed;
}

async function withDatabase<T>(
  place: StorePlace,
  mustExist: boolean,
  work: (opened: OpenDatabase) => Promise<T>,
): Promise<T> {
  const opened = await openDatabase(place, mustExist);
  try {
    return await work(opened);
  } finally {
    await opened.database.close();
  }
}

/** Reads a place from the command line. Its password is a secret. */
function readPlace(text: string, { terminal, secrets }: CommandContext): StorePlace {
  const [, variable] = /^env:(.*)$/.exec(text) ?? [];
  const value = variable === undefined ? text : (terminal.env[variable] ?? '');
  if (value.trim() === '') {
    const what = variable === undefined ? 'the name of a store is empty' : `the variable ${variable} is not set`;
    throw new ConfigError(`${what}; use the path of a state file, or the URL of a database`);
  }
  if (isUrl(value) && !isPostgresUrl(value)) {
    throw new ConfigError('a store is the path of a state file, or a URL that starts with postgres://');
  }
  if (!isPostgresUrl(value)) {
    return { path: resolve(terminal.cwd, value) };
  }
  for (const password of databasePasswords(value).filter((each) => each !== '')) {
    secrets?.add(password);
  }
  const url = parsePostgresUrl(value);
  if (typeof url === 'string') {
    throw new ConfigError(`the store ${url}`);
  }
  return { url: value, pool: POOL };
}

function tableLines(tables: readonly TableSummary[]): readonly string[] {
  const width = largest(
    tables.map(({ name }) => name.length),
    0,
  );
  const rows = tables.map(
    (table) => [table.name, String(table.rows), table.checksum.slice(0, CHECKSUM_LENGTH)] as const,
  );
  return [['table', 'rows', 'checksum'] as const, ...rows].map(
    ([name, count, checksum]) => `${name.padEnd(width)}  ${count.padStart(10)}  ${checksum}`,
  );
}
