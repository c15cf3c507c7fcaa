/** Builds the planning input of a command from its folder, flags and configuration. */
import { setImmediate } from 'node:timers/promises';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { Plan } from '../../core/change.ts';
import { ConfigError } from '../../core/errors.ts';
import { ManifestSecrets } from '../../core/manifest-secrets.ts';
import { isScope } from '../../core/scope.ts';
import { didYouMean, quote } from '../../core/text/suggest.ts';
import { kinds } from '../../kinds/registry.ts';
import type { OnSections } from '../../manifests/file-reader.ts';
import { chosenApproval, meantApprovals, planChoices } from '../../plan/approval-choice.ts';
import { DEFAULT_POLICY } from '../../plan/guard.ts';
import type { Reader } from '../../platform/client.ts';
import type { Connection } from '../../platform/connection.ts';
import { platformSource } from '../../reconcile/observe.ts';
import { applyParallel, makePlan, type Planned, type PlanningInput } from '../../reconcile/planning.ts';
import type { OrganizationTarget } from '../cli/config.ts';
import type { CommandContext, Terminal } from '../cli/context.ts';
import type { PlatformSession } from '../cli/session.ts';
import { type BaseOptions, type FolderBase, type LoadedFolder, loadBase, loadFolder } from './desired.ts';
import { readWithProgress } from './progress.ts';

/** Flags that affect a plan. */
export interface PlanningFlags {
  readonly base?: string;
  readonly config?: string;
  readonly allowDeletes?: number;
  readonly approve?: string;
  /** Addresses to which the plan is limited; the whole plan if absent. */
  readonly target?: readonly string[];
  /** Snapshot file that is used instead of the platform. */
  readonly snapshot?: string;
  /** Scope of the folder; derived from its path if absent. */
  readonly scope?: string;
  /** Record the applied commit. */
  readonly record?: boolean;
  /** Publish the plan on a pull request. */
  readonly comment?: boolean;
}

/** Planning input of a command, and where its result can be recorded. */
export type CommandInput = PlanningInput & Pick<FolderBase, 'scope' | 'place' | 'refs'>;

/** The folder to plan, its organization, and the queue that estimates durations. */
interface PlanningTarget extends OrganizationTarget {
  readonly folder: string;
  readonly queue: Pick<Connection['queue'], 'estimate'>;
  /** Manifests that were already read; read from the folder if absent. */
  readonly loaded?: LoadedFolder;
  /** Called with the sections of large manifests before they are parsed. */
  readonly onSections?: OnSections;
  /** True if the plan is applied, so that the recorded base must be that of the remote. */
  readonly isApplied?: boolean;
}

/** Reads a folder and its base. Throws DesiredStateError with every problem of the manifests. */
export async function planningInput(
  { folder, config, organization, queue, loaded, onSections, isApplied }: PlanningTarget,
  flags: PlanningFlags,
  context: CommandContext,
): Promise<CommandInput> {
  const { cwd, err } = context.terminal;
  const { state, commit, head } = loaded ?? (await loadFolder(cwd, folder, flags.config, onSections));
  for (const { file, message } of state.misnamed) {
    err(`${file} ${message}.\n`);
  }
  const base = await loadBase(cwd, folder, head, {
    organization: organization.id,
    base: flags.base,
    scope: scopeOf(flags, organization),
    fetch: fetchOf(flags, isApplied === true),
    warn: err,
  });
  return {
    organization: organization.id,
    ...base,
    targets: targetsOf(flags, [...state.declared.keys(), ...(base.base?.keys() ?? [])]),
    kinds,
    declared: state.declared,
    commit,
    policy: policyOf(config, organization, flags, context),
    isUnrecorded: isApplied === true && flags.record !== true,
    secrets: new ManifestSecrets(organization.manifestSecrets, organization.token),
    estimate: (work) => queue.estimate(work, applyParallel(config.queue.concurrency)),
  };
}

/** Returns the explicit scope of a command; undefined if it is derived from the folder. Throws ConfigError. */
export function scopeOf(
  { scope }: Pick<PlanningFlags, 'scope'>,
  organization: Pick<OrganizationConfig, 'scope'>,
): string | undefined {
  if (scope !== undefined && !isScope(scope)) {
    throw new ConfigError(
      `--scope ${JSON.stringify(scope)} is not a scope; use letters, digits, ".", "_", "-" and "/", such as teams/docs`,
    );
  }
  return scope ?? organization.scope;
}

/**
 * Returns the targets of a command: declared addresses, applied ones, and `#id` of what nothing declares. Throws
 * ConfigError with every other one, and for a command that needs the whole plan.
 */
function targetsOf({ target, record }: PlanningFlags, known: readonly string[]): readonly string[] | undefined {
  if (target !== undefined && record === true) {
    throw recordedTargets();
  }
  const unknown = target?.filter((address) => !address.startsWith('#') && !known.includes(address)) ?? [];
  if (unknown.length > 0) {
    const lines = unknown.map(
      (each) => `--target ${quote(each)}: no resource has this address${didYouMean(each, known)}`,
    );
    throw new ConfigError([...lines, 'an address is a kind and a key, as in a plan: site/help'].join('\n'));
  }
  return target === undefined ? undefined : [...new Set(target)];
}

/** The error for a record of a limited plan: a later plan would take everything else for applied, too. */
export function recordedTargets(): ConfigError {
  return new ConfigError(
    '--record needs the whole plan: it says that everything in the commit was applied; leave out --target',
  );
}

/** Deletions and records need the applied refs of the remote; a plan alone does not need the network. */
function fetchOf({ base, snapshot, record, comment }: PlanningFlags, isApplied: boolean): BaseOptions['fetch'] {
  if (snapshot !== undefined) {
    return 'if-needed';
  }
  if (base === 'applied' || record === true) {
    return 'always';
  }
  if (isApplied && base === undefined) {
    return 'if-recorded';
  }
  return comment === true ? 'if-possible' : 'if-needed';
}

/** Returns the configured limits and approvals, with the overrides of the command line. */
export function policyOf(
  config: Config,
  organization: OrganizationConfig,
  flags: Pick<PlanningFlags, 'allowDeletes' | 'approve'>,
  { clock }: CommandContext,
): PlanningInput['policy'] {
  return {
    ...DEFAULT_POLICY,
    prune: organization.prune,
    requireApproval: organization.requireApproval,
    limits: organization.limits,
    user: config.platform.user,
    now: clock.now(),
    allowDeletes: flags.allowDeletes ?? 0,
    typedApproval: flags.approve,
  };
}

/** Returns the whole checksum of a plan that a person means; null if they mean none of it, or more than one. */
export function approvedIn(plan: Plan, typed: string | undefined): string | null {
  const [meant, other] = typed === undefined ? [] : meantApprovals(typed, planChoices(plan));
  return other === undefined ? (meant?.checksum ?? null) : null;
}

/** Throws RefusedPlanError, which names the choices, if a person typed a checksum that this plan does not have. */
export function requireApproval(plan: Plan, typed: string | undefined): void {
  if (typed !== undefined) {
    chosenApproval(typed, planChoices(plan));
  }
}

/** Turns of the event loop in which a connection to this machine opens and a request is sent. Others open later. */
const TURNS_TO_SEND = 5;

/**
 * Reads a folder and plans it against the platform, with a client that cannot write. If there is much to parse, the
 * platform lists the kinds in it meanwhile. Throws DesiredStateError; then, what was requested is cancelled.
 */
export function planFolder(
  target: PlanningTarget,
  flags: PlanningFlags,
  session: PlatformSession,
  context: CommandContext,
): Promise<{ readonly input: CommandInput; readonly planned: Planned }> {
  const failed = new AbortController();
  const signal = AbortSignal.any([session.signal, failed.signal]);
  const work = async (reader: Reader, requests: () => number) => {
    const source = platformSource(reader, requests);
    const onSections: OnSections = async (names) => {
      source.begin(kinds.filter(({ manifest }) => manifest !== null && names.has(manifest.section)));
      for (let turn = 0; turn < TURNS_TO_SEND; turn += 1) {
        await setImmediate();
      }
    };
    try {
      const input = await planningInput({ ...target, onSections }, flags, context);
      return { input, planned: await makePlan(input, source) };
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  return readWithProgress(target.organization.id, { ...session, signal }, context.terminal, work);
}

/** Plans against the platform, with a client that cannot write. */
export function planAgainstPlatform(
  input: PlanningInput,
  session: PlatformSession,
  terminal: Terminal,
): Promise<Planned> {
  return readWithProgress(input.organization, session, terminal, (reader, requests) =>
    makePlan(input, platformSource(reader, requests)),
  );
}
