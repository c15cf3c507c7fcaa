/** `octavo access`: who has which role where, from the platform and the manifests, for an access review. */
import { resolve } from 'node:path';
import { ConfigError, EXIT, type ExitCode } from '../../core/errors.ts';
import { enumerated } from '../../core/lists.ts';
import { resolveRef } from '../../git/commits.ts';
import type { Head } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { baseOfManifests } from '../../reconcile/record.ts';
import { readTarget } from '../cli/config.ts';
import { type CommandContext, printResult } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { table } from '../cli/table.ts';
import { folderInRepository, loadFolder } from '../plan/desired.ts';
import { readWithProgress } from '../plan/progress.ts';
import { type ActualAccess, readAccess } from './actual-access.ts';
import { readApprovers } from './approvers.ts';
import { declaredGrants, type GrantHistory, readGrantHistory } from './declared-access.ts';
import { accessCells, accessCsv, accessRows } from './report.ts';

/** Version of the JSON. */
const FORMAT = 'octavo.access/1';
/** People who should be able to manage an organization, so that it does not depend on one of them. */
const LEAST_ADMINS = 2;
/** Names that a warning lists. */
const NAMED = 5;

interface AccessFlags {
  readonly format: 'text' | 'csv' | 'json';
  readonly since?: string;
  readonly config?: string;
  readonly organization?: string;
}

/**
 * Prints who has which role where; with `since`, only what commits changed since then. Fails if a resource could not be
 * read, because the report is not complete then. Throws AppError.
 */
export async function accessCommand(folder: string, flags: AccessFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const { state, head } = await loadFolder(terminal.cwd, folder, flags.config);
  const history = flags.since === undefined ? null : await historyOf(resolve(terminal.cwd, folder), flags.since, head);
  const target = await readTarget(flags, context);
  const { id } = target.organization;
  const actual = await withPlatform(target, context, (session) =>
    readWithProgress(id, session, terminal, (reader) => readAccess(reader, state.declared)),
  );
  const declared = declaredGrants(baseOfManifests(kinds, state.declared) ?? new Map());
  const commits = new Set((history?.changes ?? []).map(({ commit }) => commit.id));
  const approvers = await readApprovers({ config: target.config, organization: id, context }, commits);
  const rows = accessRows(actual, declared, history?.changes ?? null, approvers.names);
  const warnings = warningsOf(actual, history, approvers.problem);
  if (flags.format === 'csv') {
    terminal.out(accessCsv(rows));
  } else {
    const json = { format: FORMAT, organization: id, administrators: adminsOf(actual), warnings, rows };
    printResult(context, flags.format, json, linesOf(rows, flags, context));
  }
  for (const warning of warnings) {
    terminal.err(`warning: ${printable(warning)}\n`);
  }
  return actual.unread.length > 0 ? EXIT.failed : EXIT.done;
}

async function historyOf(folder: string, since: string, head: Head | null): Promise<GrantHistory> {
  if (head === null) {
    throw new ConfigError('--since requires a git repository with a commit');
  }
  const from = await resolveRef(head.root, since);
  if (from === null) {
    throw new ConfigError(
      `--since ${since} is not a commit, branch or tag of ${head.root}; in CI, fetch the whole history`,
    );
  }
  const directory = await folderInRepository(folder);
  return readGrantHistory({ repository: head.root, directory }, from, head.commit);
}

function adminsOf({ people }: ActualAccess): readonly string[] {
  return [...people]
    .flatMap(([email, { role, disabled }]) => (role === 'admin' && !disabled ? [email] : []))
    .toSorted();
}

function warningsOf(actual: ActualAccess, history: GrantHistory | null, noApprovers: string | null): readonly string[] {
  const admins = adminsOf(actual);
  const unreadable = (history?.unreadable ?? []).map(({ id }) => id.slice(0, 7));
  return [
    ...(admins.length < LEAST_ADMINS
      ? [
          `the organization has ${counted(admins.length, 'administrator')} (${enumerated(admins, ', ')}); make it at least ${LEAST_ADMINS}`,
        ]
      : []),
    ...actual.unread.map(({ resource, reason }) => `${resource} is missing, because it could not be read: ${reason}`),
    ...actual.problems.map(({ address, message }) => `${address} ${message}`),
    ...(noApprovers === null ? [] : [`who approved is missing, because the daemon could not be asked: ${noApprovers}`]),
    ...(unreadable.length === 0
      ? []
      : [
          `the manifests of ${enumerated(unreadable, ', ', NAMED)} have errors; their changes count for the next commit`,
        ]),
  ];
}

function linesOf(rows: ReturnType<typeof accessRows>, { since }: AccessFlags, { terminal }: CommandContext): string[] {
  if (rows.length === 0) {
    return [since === undefined ? 'nobody has access' : 'no commit changed who has access'];
  }
  const headings = ['PERSON', 'IN ORGANIZATION', 'RESOURCE', 'ROLE', 'THROUGH', 'IN MANIFESTS'];
  const changed = since === undefined ? [] : ['CHANGE', 'COMMIT', 'DATE', 'AUTHOR', 'APPROVED BY'];
  return table([...headings, ...changed], accessCells(rows), terminal);
}
