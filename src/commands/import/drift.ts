/** Writes drift into manifests: in the work tree, or on a branch with a pull request. */
import { readFile, writeFile } from 'node:fs/promises';
import { posix, relative, resolve, sep } from 'node:path';
import type { Address } from '../../core/address.ts';
import type { Change, FieldChange, Plan } from '../../core/change.ts';
import type { Clock } from '../../core/clock.ts';
import { ConfigError, EXIT, type ExitCode, messageOf, SourceError } from '../../core/errors.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import { defaultScope } from '../../core/scope.ts';
import { findRepository } from '../../forge/ci-job.ts';
import {
  type DriftedResource,
  type DriftReport,
  driftBranch,
  driftMessage,
  driftPull,
  goneComment,
  isDriftCommit,
  resourceLines,
  upsertPull,
} from '../../forge/drift.ts';
import type { OpenPull, PullBranches } from '../../forge/forge.ts';
import { openPulls, type Pulls } from '../../forge/open-forge.ts';
import { withRetries } from '../../forge/requests.ts';
import {
  type Author,
  commitTree,
  configuredAuthor,
  isAncestor,
  makeTree,
  type NewTree,
  readCommit,
} from '../../git/commits.ts';
import { readTreeAt } from '../../git/objects.ts';
import { AppliedRefs, openRefHost, RemoteBranches } from '../../git/refs.ts';
import { findRepositoryRoot, readHead } from '../../git/work-tree.ts';
import { type Drift, type DriftedField, type DriftedPlace, resolveDrift } from '../../import/drift.ts';
import { withFiles } from '../../import/import.ts';
import { kinds } from '../../kinds/registry.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { computePlan } from '../../plan/plan.ts';
import { differingTexts } from '../../plan/render/field-text.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { hasApplied } from '../../reconcile/applied.ts';
import { readTarget } from '../cli/config.ts';
import { type CommandContext, interruptibleClock } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { configIn, type LoadedFolder, loadFolder, NO_BASE, openFolder } from '../plan/desired.ts';
import { planAgainstPlatform, planningInput, scopeOf } from '../plan/planning.ts';

/** Flags of `octavo import` that drift needs. */
export interface DriftFlags {
  /** The manifest folder. */
  readonly out: string;
  /** Kinds to include; all if empty. */
  readonly kinds: readonly string[];
  readonly base?: string;
  readonly scope?: string;
  /** Target branch of the pull request; the default branch of the remote if absent. */
  readonly onto?: string;
  /** Author of the commit, as `Name <email>`. */
  readonly author?: string;
  readonly dryRun?: boolean;
  readonly config?: string;
  readonly organization?: string;
}

/** The manifests that drift is written into. */
interface DriftTarget {
  readonly tree: FileTree;
  /** Path of the folder as it appears in problems and sources. */
  readonly root: string;
  readonly loaded: LoadedFolder;
}

/** Drift from the manifests of a folder. */
interface FoundDrift {
  readonly plan: Plan;
  readonly drift: Drift;
  /** Original text of the manifests by path. */
  readonly before: ReadonlyMap<string, string>;
}

/** Runs `octavo import --drift`: writes changes that were made on the platform into the manifests, for review. */
export async function importDrift(flags: DriftFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const folder = resolve(terminal.cwd, flags.out);
  const loaded = await loadFolder(terminal.cwd, flags.out, flags.config);
  const place = { tree: openFolder(folder), root: relative(terminal.cwd, folder), loaded };
  const { drift, before } = await findDrift(place, flags, context);
  if (flags.dryRun !== true) {
    await writeTexts(drift, before, terminal.cwd);
  }
  terminal.out([...drift.fields.map(fieldLine), ...drift.places.map(placeLine)].join(''));
  terminal.err(`${summaryText(drift)}\n`);
  return EXIT.done;
}

/** Plans the manifests and computes the edits that make them match the platform. */
async function findDrift(place: DriftTarget, flags: DriftFlags, context: CommandContext): Promise<FoundDrift> {
  const target = await readTarget(flags, context, flags.out);
  const { input, planned } = await withPlatform(target, context, async (session) => {
    const { queue } = session.connection;
    const folder = { folder: flags.out, ...target, queue, loaded: place.loaded };
    // By default, drift is compared with the platform alone.
    const made = await planningInput(folder, { ...flags, base: flags.base ?? NO_BASE }, context);
    return { input: made, planned: await planAgainstPlatform(made, session, context.terminal) };
  });
  const { observation, identity, plan } = planned;
  const before = await textsOf(plan.changes, place);
  const wanted = new Set(flags.kinds);
  const partOf = (name: string) => kinds.find((kind) => kind.name === name)?.partOf ?? name;
  const drift = await resolveDrift(
    {
      kinds,
      changes: plan.changes.filter(({ kind }) => wanted.size === 0 || wanted.has(partOf(kind))),
      declared: input.declared,
      bound: identity.bound,
      base: input.base,
      observation,
      manifests: before,
    },
    async (texts) => {
      const declared = await declaredWith(texts, place, flags, context);
      const cost = () => plan.cost;
      return computePlan({ ...input, declared, observation, cost }).plan.changes;
    },
  );
  return { plan, drift, before };
}

/** Converts a path of a source to a path inside the tree. */
function pathInTree(root: string, path: string): string {
  return root === '' ? path : posix.relative(root, path);
}

/** Loads the declarations of the folder with edited texts. */
async function declaredWith(
  texts: ReadonlyMap<string, string>,
  { tree, root }: DriftTarget,
  { out, config }: DriftFlags,
  { terminal }: CommandContext,
) {
  const inside = new Map([...texts].map(([path, text]) => [pathInTree(root, path), text]));
  const { declared } = await createManifestLoader(kinds).load(withFiles(tree, inside), {
    root,
    config: configIn(out, terminal.cwd, config),
  });
  return declared;
}

/** Reads the manifests of the changed resources, by path. */
async function textsOf(changes: readonly Change[], { tree, root }: DriftTarget): Promise<ReadonlyMap<string, string>> {
  const paths = new Set(changes.flatMap(({ source }) => (source === null ? [] : [source.file])));
  const read = async (path: string) => Buffer.from(await tree.read(pathInTree(root, path))).toString('utf8');
  return new Map(await Promise.all([...paths].map(async (path) => [path, await read(path)] as const)));
}

async function writeTexts({ texts }: Drift, before: ReadonlyMap<string, string>, cwd: string): Promise<void> {
  const disk = (path: string) => resolve(cwd, path);
  for (const [path, text] of texts) {
    try {
      const read = before.get(path);
      if (read !== undefined && (await readFile(disk(path), 'utf8')) !== read) {
        throw new Error('the file has changed since it was read; run import again');
      }
      await writeFile(disk(path), text);
    } catch (error) {
      throw new ConfigError(`cannot write ${path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function fieldLine({ file, line, address, field, from, to }: DriftedField): string {
  return `~ ${printable(`${file}:${line}  ${address}  ${field}`)}  ${differingTexts(from, to, false).join(' → ')}\n`;
}

function placeLine({ action, file, line, address }: DriftedPlace): string {
  return `${action === 'delete' ? '-' : '→'} ${printable(`${file}:${line}  ${address}`)}\n`;
}

function summaryText({ fields, places, omitted }: Drift): string {
  const gone = places.filter(({ action }) => action === 'delete').length;
  const moved = places.length - gone;
  const done = [
    ...(fields.length > 0 ? [`wrote ${counted(fields.length, 'field')}`] : []),
    ...(gone > 0 ? [`removed ${counted(gone, 'resource')}`] : []),
    ...(moved > 0 ? [`moved ${counted(moved, 'resource')}`] : []),
  ].join(', ');
  return [
    ...omitted.map(({ address, reason }) => `not written: ${printable(`${address}: ${reason}`)}`),
    done === '' ? 'No drift to write' : `${done[0]?.toUpperCase()}${done.slice(1)}`,
  ].join('\n');
}

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
export async function driftPullRequest(flags: DriftFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { organization } = await readTarget(flags, context, flags.out);
  const pulls = flags.dryRun === true ? null : openPullRequests(context);
  const repository = await openDriftRepository(flags, context);
  const scope = scopeOf(flags, organization) ?? defaultScope(repository.folder);
  const branches = { from: driftBranch(organization.id, scope), into: repository.onto };
  const base = flags.base ?? (await appliedBase(repository, organization.id, scope));
  const run = new DriftRun({ ...flags, base }, repository, branches, context);
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
  readonly #flags: DriftFlags;
  readonly #repository: DriftRepository;
  readonly #branches: PullBranches;
  readonly #context: CommandContext;
  readonly #clock: Clock;
  /** True if a branch has moved during this run. */
  #wasMoved = false;

  constructor(flags: DriftFlags, repository: DriftRepository, branches: PullBranches, context: CommandContext) {
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
    const open = await this.#findOpen(pulls);
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

  #findOpen(pulls: Pulls): Promise<OpenPull | null> {
    return withRetries(this.#clock, () => pulls.findOpen(this.#branches));
  }

  /** Returns true if the commit was merged, also when squashing or rebasing created other commits. */
  async #isMerged(pulls: Pulls, tip: string): Promise<boolean> {
    const open = await this.#findOpen(pulls);
    return open === null && (await withRetries(this.#clock, () => pulls.findMerged(this.#branches, tip))) !== null;
  }

  /** Leaves a branch with other commits unchanged. */
  async #leave({ pulls, report }: Attempt): Promise<string> {
    const open = await this.#findOpen(pulls);
    if (open !== null) {
      const text = driftPull(report, pulls.maxLength, { isTaken: true });
      await upsertPull(pulls, this.#branches, text, this.#clock);
    }
    const where = open === null ? '' : `; ${pullRequestName(open)} explains it`;
    return `${this.#branches.from} has other commits and is kept unchanged${where}. Merge or delete the branch`;
  }

  /** Deletes the branch and closes the pull request when there is no drift. */
  async #end({ pulls, report, tip }: Attempt): Promise<string | null> {
    const open = await this.#findOpen(pulls);
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

/** Author without a flag and git settings. */
const SELF: Author = { name: 'Octavo', email: 'octavo@localhost' };

/** The repository that drift is committed to. */
interface DriftRepository {
  readonly directory: string;
  readonly remote: RemoteBranches;
  /** Target branch of pull requests. */
  readonly onto: string;
  readonly author: Author;
  /** Manifest folder, relative to the repository; empty for its root. */
  readonly folder: string;
}

/** Opens the repository. Throws ConfigError and SourceError if commits and pushes are not possible. */
async function openDriftRepository(
  { out, onto, author }: DriftFlags,
  { terminal }: CommandContext,
): Promise<DriftRepository> {
  const path = resolve(terminal.cwd, out);
  const directory = findRepositoryRoot(path);
  if (directory === null) {
    throw new ConfigError(`--pull-request requires a git repository, and ${out} is not in one`);
  }
  const remote = await RemoteBranches.of(directory);
  return {
    directory,
    remote,
    onto: onto ?? (await remote.defaultBranch()),
    author: author === undefined ? ((await configuredAuthor(directory)) ?? SELF) : readAuthor(author),
    folder: relative(directory, path).split(sep).join('/'),
  };
}

function readAuthor(text: string): Author {
  const [, name, email] = /^([^<>\p{Cc}]*[^<>\p{Cc}\s])\s*<([^<>\s\p{Cc}]+@[^<>\s\p{Cc}]+)>$/u.exec(text) ?? [];
  if (name === undefined || email === undefined) {
    throw new ConfigError(`--author ${JSON.stringify(text)} is not an author; use "Name <email>"`);
  }
  return { name, email };
}

/** Loads the manifests of a commit, independent of the work tree. */
async function manifestsAt(
  { directory, folder }: DriftRepository,
  commit: string,
  { config, out }: DriftFlags,
  { terminal }: CommandContext,
): Promise<DriftTarget> {
  const tree = await readTreeAt(directory, commit, folder === '' ? '.' : folder);
  const own = configIn(out, terminal.cwd, config);
  const state = await createManifestLoader(kinds).load(tree, { root: folder, config: own });
  const head = await readHead(resolve(terminal.cwd, out));
  return { tree, root: folder, loaded: { state, commit, head } };
}

/** Creates the tree of a commit with the drift written into it; null without drift to write. */
async function treeWith(
  { directory, folder }: DriftRepository,
  commit: string,
  place: DriftTarget,
  { drift }: FoundDrift,
): Promise<NewTree | null> {
  if (drift.texts.size === 0) {
    return null;
  }
  const texts = new Map<string, string>();
  for (const [path, text] of drift.texts) {
    // The target of a symbolic link is written, not the link.
    const real = posix.join(folder, await place.tree.resolve(pathInTree(place.root, path)));
    if (texts.has(real) && texts.get(real) !== text) {
      throw new SourceError(`${real} is referenced twice and needs two different contents; edit it manually`);
    }
    texts.set(real, text);
  }
  return makeTree(directory, commit, texts);
}

/**
 * State of the drift branch.
 *
 * | state | meaning |
 * |---|---|
 * | `absent` | the branch does not exist |
 * | `taken` | it has someone else's commit, which must not be overwritten |
 * | `same` | it has exactly the drift to write |
 * | `other` | it has older drift, or commits that the target branch contains |
 */
type BranchState = 'absent' | 'taken' | 'same' | 'other';

async function stateOfBranch(
  { directory }: DriftRepository,
  tip: string | undefined,
  base: string,
  wanted: NewTree | null,
): Promise<BranchState> {
  if (tip === undefined) {
    return 'absent';
  }
  const { parents, message, tree, changes } = await readCommit(directory, tip);
  if (parents.length !== 1 || !isDriftCommit(message, tree)) {
    return (await isAncestor(directory, tip, base)) ? 'other' : 'taken';
  }
  return wanted !== null && JSON.stringify(wanted.changes) === JSON.stringify(changes) ? 'same' : 'other';
}
