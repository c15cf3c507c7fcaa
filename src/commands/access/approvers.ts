/** People who approved the plans of commits, as far as the running daemon has a record of it. */
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../core/errors.ts';
import { controlSocketPath, isListening } from '../../server/control-client.ts';
import { organizationPath, passPath } from '../../web/model/words.ts';
import type { AuditView } from '../../web/pages/audit.ts';
import type { PassesView } from '../../web/pages/passes.ts';
import type { CommandContext } from '../cli/context.ts';
import { askDaemon } from '../cli/control-call.ts';

/** Maximum number of pages of the audit and of the history that are read, of 50 entries each. */
const MAX_PAGES = 20;

/** The daemon whose record is read. */
interface Recorded {
  readonly config: Config;
  readonly organization: string;
  readonly context: CommandContext;
}

/** People who approved the plan of a commit, by its id, and why nobody is known; null if the record was read. */
export interface Approvers {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly problem: string | null;
}

/**
 * Returns who approved the plan of each commit, as `name (method)`: nobody for a commit that needed no approval, or whose
 * plan the daemon no longer keeps, and nobody at all if no daemon runs.
 */
export async function readApprovers(recorded: Recorded, commits: ReadonlySet<string>): Promise<Approvers> {
  if (commits.size === 0 || !(await isListening(controlSocketPath(recorded.config)))) {
    return { names: new Map(), problem: null };
  }
  try {
    return { names: await namesOf(recorded, commits), problem: null };
  } catch (error) {
    return { names: new Map(), problem: messageOf(error) };
  }
}

async function namesOf(recorded: Recorded, commits: ReadonlySet<string>): Promise<Approvers['names']> {
  const found = new Map<string, readonly string[]>();
  const approvals = await readApprovals(recorded);
  for (const { commit, number, checksum } of approvals.size === 0 ? [] : await readPasses(recorded, commits)) {
    const names = approvals.get(checksum) ?? approvals.get((await heldChecksumOf(recorded, number)) ?? '') ?? [];
    found.set(commit, [...new Set([...(found.get(commit) ?? []), ...names])]);
  }
  return found;
}

/** Returns who approved each checksum. */
async function readApprovals(recorded: Recorded): Promise<ReadonlyMap<string, readonly string[]>> {
  const approvals = new Map<string, readonly string[]>();
  const path = organizationPath(recorded.organization, '/audit');
  for await (const { entries } of pages<AuditView>(recorded, path)) {
    for (const { action, subject, outcome, actor } of entries) {
      if (action === 'approve' && outcome === 'done') {
        approvals.set(subject, [...(approvals.get(subject) ?? []), `${actor.name || 'unknown'} (${actor.method})`]);
      }
    }
  }
  return approvals;
}

/** Returns the passes of these commits that had a plan with changes. */
async function readPasses(recorded: Recorded, commits: ReadonlySet<string>) {
  const passes: { readonly commit: string; readonly number: number; readonly checksum: string }[] = [];
  for await (const view of pages<PassesView>(recorded, organizationPath(recorded.organization, '/history'))) {
    for (const { commit, number, checksum, planPath } of view.commits.flatMap((each) => each.passes)) {
      if (commit !== null && commits.has(commit) && checksum !== null && planPath !== null) {
        passes.push({ commit, number, checksum });
      }
    }
  }
  return passes;
}

/** Returns the checksum of what a plan held, which can be approved on its own. */
async function heldChecksumOf(recorded: Recorded, number: number): Promise<string | null> {
  const { plan } = await view<{ readonly plan: { readonly heldChecksum: string | null } | null }>(
    recorded,
    passPath(recorded.organization, number),
  );
  return plan?.heldChecksum ?? null;
}

async function* pages<V extends { readonly next: string | number | null }>(recorded: Recorded, path: string) {
  let before = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await view<V>(recorded, `${path}${before}`);
    yield found;
    if (found.next === null) {
      return;
    }
    before = `?before=${encodeURIComponent(found.next)}`;
  }
}

function view<V extends object>({ config, context }: Recorded, path: string): Promise<V> {
  return askDaemon<V>(config, { command: 'views', path }, context);
}
