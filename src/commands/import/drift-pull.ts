import type { Address } from '../../core/address.ts';
import type { FieldChange } from '../../core/change.ts';
import type { Clock } from '../../core/clock.ts';
import { ConfigError, EXIT, type ExitCode, messageOf, SourceError } from '../../core/errors.ts';
import { defaultScope } from '../../core/scope.ts';
import { findRepository } from '../../forge/ci-job.ts';
import {
  type DriftedResource,
  type DriftReport,
  driftBranch,
  driftMessage,
  driftPull,
  goneComment,
  resourceLines,
  upsertPull,
} from '../../forge/drift.ts';
import type { OpenPull, PullBranches, Pulls } from '../../forge/forge.ts';
import { openPulls } from '../../forge/open-forge.ts';
import { withRetries } from '../../forge/requests.ts';
import { commitTree, type NewTree } from '../../git/commits.ts';
import { AppliedRefs, openRefHost } from '../../git/refs.ts';
import type { Drift } from '../../import/drift.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { hasApplied } from '../../reconcile/applied.ts';
import { chooseOrganization, readConfig } from '../cli/config.ts';
import { type CommandContext, interruptibleClock } from '../cli/context.ts';
import { scopeOf } from '../plan/planning.ts';
import { findDrift } from './drift.ts';
import {
  type DriftPullFlags,
  type DriftRepository,
  manifestsAt,
  openDriftRepository,
  stateOfBranch,
  treeWith,
} from './drift-branch.ts';

/** Maximum number of attempts. A new attempt starts when a branch has moved during the previous one. */
const ROUNDS = 5;

/**
 * Runs `octavo import --drift --pull-request`: commits drift to a separate branch and keeps one pull request open for it.
 *
 * | drift | drift branch | action |
 * |---|---|---|
 * | some | absent, or from an earlier run | push a commit on top of the target branch; create or update the pull request |
 * | some | already has this drift | update the pull request, unless it was closed unmerged: then it was declined |
 * | none | from an earlier run | delete the branch, close the pull request with a comment |
 * | any | has other commits that are not merged | leave it unchanged; the pull request explains why |
 *
 * The branch is the lock between concurrent runs: it is only updated from the commit that was read. A run starts
 * again if it finds that the drift branch or the target branch has moved, for example after a merge.
 */
export async function driftPullRequest(flags: DriftPullFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = context;
  const organization = chooseOrganization(await readConfig(flags.config, context, flags.out), flags.organization);
  const pulls = flags.dryRun === true ? null : openPullRequests(context);
  const repository = await openDriftRepository(flags, context);
  const scope = scopeOf(flags, organization) ?? defaultScope(repository.folder);
  const branches = { from: driftBranch(organization.id, scope), into: repository.onto };
  const base = flags.base ?? (await appliedBase(repository, organization.id, scope));
  const run = new DriftRun({ ...flags, ...(base === undefined ? {} : { base }) }, repository, branches, context);
  for (let round = 0; round < ROUNDS; round += 1) {
    signal.throwIfAborted();
    const outcome = await run.attempt(pulls);
    if (outcome !== null) {
      terminal.out(run.lines.map((line) => `${line}\n`).join(''));
      terminal.err(`${outcome}\n`);
      return EXIT.done;
    }
  }
  throw new SourceError(
    `${branches.from} or ${branches.into} kept changing during the run; run the command again later`,
  );
}

/** Returns `applied` if the scope has a recorded commit. Throws SourceError. */
async function appliedBase(
  { directory, folder }: DriftRepository,
  organization: string,
  scope: string,
): Promise<'applied' | undefined> {
  const refs = new AppliedRefs(openRefHost(directory), organization);
  await refs.fetch();
  const place = { organization, scope, directory: defaultScope(folder), repository: directory };
  return (await hasApplied(refs, place)) ? 'applied' : undefined;
}

/** Opens the pull requests of the forge. Throws ConfigError outside of a CI job, and without a token. */
function openPullRequests({ terminal, secrets, signal, version }: CommandContext): Pulls {
  const at = findRepository(terminal.env);
  if (at === null) {
    throw new ConfigError(
      '--pull-request requires a CI job of GitHub, Gitea or Forgejo Actions or GitLab CI; ' +
        'use --dry-run to see what it would do',
    );
  }
  if (at.token === null) {
    throw new ConfigError(`${at.tokenVariable} is not set; set it to a token that can open pull requests`);
  }
  secrets?.add(at.token);
  return openPulls(at, at.token, signal, `octavo/${version}`);
}

interface Attempt {
  readonly pulls: Pulls;
  readonly report: DriftReport;
  /** The commit of the target branch. */
  readonly base: string;
  /** The commit of the drift branch; undefined if it does not exist. */
  readonly tip: string | undefined;
}

class DriftRun {
  /** The drift, formatted like the changes of a plan. */
  lines: readonly string[] = [];
  readonly #flags: DriftPullFlags;
  readonly #repository: DriftRepository;
  readonly #branches: PullBranches;
  readonly #context: CommandContext;
  readonly #clock: Clock;
  /** True if a branch has moved during this run. */
  #wasMoved = false;

  constructor(flags: DriftPullFlags, repository: DriftRepository, branches: PullBranches, context: CommandContext) {
    this.#flags = flags;
    this.#repository = repository;
    this.#branches = branches;
    this.#context = context;
    this.#clock = interruptibleClock(context);
  }

  /** Makes one attempt. Returns a summary, or null if a branch moved and the attempt must be repeated. */
  async attempt(pulls: Pulls | null): Promise<string | null> {
    const { from, into } = this.#branches;
    const tips = await this.#repository.remote.fetch([into, from]);
    const base = tips.get(into);
    if (base === undefined) {
      throw new ConfigError(`the remote has no branch ${JSON.stringify(into)}; pass the target branch with --onto`);
    }
    const place = await manifestsAt(this.#repository, base, this.#flags, this.#context);
    const found = await findDrift(place, this.#flags, this.#context);
    const report = reportOf(found.plan, found.drift);
    this.lines = [
      ...report.resources.flatMap(resourceLines),
      ...report.omitted.map(({ address, reason }) => `  not written: ${printable(`${address}: ${reason}`)}`),
    ];
    const tree = await treeWith(this.#repository, base, place, found);
    const tip = tips.get(from);
    const state = await stateOfBranch(this.#repository, tip, base, tree);
    if (pulls === null) {
      return this.#dry(report, state);
    }
    const attempt = { pulls, report, base, tip };
    if (state === 'taken' && !(await this.#isMerged(pulls, tip ?? ''))) {
      return this.#leave(attempt);
    }
    if (tree === null) {
      return this.#end(attempt);
    }
    return state === 'same' ? this.#keep(attempt, tip ?? '') : this.#write(attempt, tree);
  }

  #dry(report: DriftReport, state: string): string {
    const { from, into } = this.#branches;
    const { title } = driftPull(report, Number.POSITIVE_INFINITY, { isTaken: false });
    if (state === 'taken') {
      return `${from} has other commits and would be kept unchanged`;
    }
    const branch = state === 'absent' ? '' : `${from} would be deleted and its pull request closed`;
    return report.resources.length === 0
      ? ['No drift to write', branch].filter((part) => part !== '').join('; ')
      : `"${title}" would be a pull request from ${from} into ${into}`;
  }

  async #write({ pulls, report, base, tip }: Attempt, tree: NewTree): Promise<string | null> {
    const { directory, remote, author } = this.#repository;
    const { from, into } = this.#branches;
    const message = driftMessage(report, tree.id);
    const commit = await commitTree(directory, { tree: tree.id, parent: base, message, author });
    if ((await remote.push(from, commit, tip ?? null)) === 'moved') {
      return this.#moved();
    }
    // A merge of this drift may have moved the target branch.
    if ((await remote.fetch([into])).get(into) !== base) {
      return this.#moved();
    }
    return this.#show({ pulls, report, base, tip: commit });
  }

  /** Keeps the pull request, unless it was declined: closed unmerged with the same changes. */
  async #keep(attempt: Attempt, tip: string): Promise<string> {
    const { pulls } = attempt;
    const open = await withRetries(this.#clock, () => pulls.findOpen(this.#branches));
    const declined =
      open === null ? await withRetries(this.#clock, () => pulls.findDeclined(this.#branches, tip)) : null;
    return declined === null
      ? this.#show(attempt)
      : `Pull request ${declined} with the same changes was closed; delete ${this.#branches.from} to open a new one`;
  }

  async #show({ pulls, report }: Attempt): Promise<string> {
    const { from } = this.#branches;
    const text = driftPull(report, pulls.maxLength, { isTaken: false });
    try {
      const { pull, outcome } = await upsertPull(pulls, this.#branches, text, this.#clock);
      return `${pullRequestName(pull)} at ${pulls.label} is ${outcome}: ${counted(report.resources.length, 'resource')} on ${from}`;
    } catch (error) {
      this.#context.terminal.err(
        `${from} was pushed but has no pull request yet; open one manually or run the command again.\n`,
      );
      throw error;
    }
  }

  /** Returns true if the commit was merged, also when squashing or rebasing created other commits. */
  async #isMerged(pulls: Pulls, tip: string): Promise<boolean> {
    const open = await withRetries(this.#clock, () => pulls.findOpen(this.#branches));
    return open === null && (await withRetries(this.#clock, () => pulls.findMerged(this.#branches, tip))) !== null;
  }

  /** Leaves a branch with other commits unchanged. */
  async #leave({ pulls, report }: Attempt): Promise<string> {
    const open = await withRetries(this.#clock, () => pulls.findOpen(this.#branches));
    if (open !== null) {
      const text = driftPull(report, pulls.maxLength, { isTaken: true });
      await upsertPull(pulls, this.#branches, text, this.#clock);
    }
    const where = open === null ? '' : `; ${pullRequestName(open)} explains it`;
    return `${this.#branches.from} has other commits and is kept unchanged${where}. Merge or delete the branch`;
  }

  /** Deletes the branch and closes the pull request when there is no drift. */
  async #end({ pulls, report, tip }: Attempt): Promise<string | null> {
    const open = await withRetries(this.#clock, () => pulls.findOpen(this.#branches));
    if (tip !== undefined && (await this.#repository.remote.push(this.#branches.from, null, tip)) === 'moved') {
      return this.#moved();
    }
    if (open === null || (tip === undefined && this.#wasMoved)) {
      return tip === undefined ? 'No drift to write' : `No drift to write; deleted ${this.#branches.from}`;
    }
    await this.#close(pulls, open, report);
    return `No drift to write; closed ${pullRequestName(open)} at ${pulls.label}`;
  }

  async #close(pulls: Pulls, open: OpenPull, report: DriftReport): Promise<void> {
    try {
      await pulls.comment(open.number, goneComment(report));
    } catch (error) {
      this.#context.terminal.err(`No comment on ${pullRequestName(open)}: ${messageOf(error)}.\n`);
    }
    await withRetries(this.#clock, () => pulls.close(open.number));
  }

  #moved(): null {
    this.#wasMoved = true;
    return null;
  }
}

function pullRequestName({ number, url }: OpenPull): string {
  return `Pull request ${number}${url === null ? '' : ` (${url})`}`;
}

/** Groups drift by resource. */
function reportOf({ organization, title }: { organization: string; title: string }, drift: Drift): DriftReport {
  const resources = new Map<Address, DriftedResource & { fields: FieldChange[] }>();
  for (const { address, field, file, line, from, to } of drift.fields) {
    const resource = resources.get(address) ?? { action: 'update', address, file, line, fields: [] };
    const change = { path: field, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    resource.fields.push(change);
    resources.set(address, resource);
  }
  for (const place of drift.places) {
    const known = resources.get(place.address);
    resources.set(place.address, { ...place, fields: known?.fields ?? [] });
  }
  return { organization, title, resources: [...resources.values()], omitted: drift.omitted };
}
