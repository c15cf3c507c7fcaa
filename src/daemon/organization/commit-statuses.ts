/** Sets a commit status, and a deployment if configured, for every commit that the daemon sees. */
import type { Change } from '../../core/change.ts';
import { WakeUpSignal } from '../../core/clock.ts';
import { DesiredStateError, messageOf } from '../../core/errors.ts';
import { messageLine } from '../../notify/messages.ts';
import {
  applyingProgress,
  type CommitProgress,
  changeProgress,
  countApplied,
  countBefore,
  dueChanges,
  findRecord,
  invalidProgress,
  isFullCommit,
  ownChanges,
  passProgress,
  recordedProgress,
  type StatusProgress,
  slowProgress,
  supersede,
  type WaitingReason,
} from '../../notify/status-progress.ts';
import {
  type OrganizationStatuses,
  openOrganizationStatuses,
  type RecordChange,
  type StatusFailure,
  StatusRecords,
  type StatusRequest,
  StatusSender,
} from '../../notify/status-sender.ts';
import type { PassEnd } from '../../reconcile/pass.ts';
import { createRedactor } from '../../redact.ts';
import type { CommitStatusRecord } from '../../store/commit-statuses.ts';
import type { History, PassRecord } from '../../store/history.ts';
import { organizationPath, passPath } from '../../web/model/words.ts';
import type { Feature, OrganizationContext, OrganizationEvents } from './feature.ts';

/** Reports of a pass that has not ended. */
interface RunningPass {
  drift: ReadonlySet<Change>;
  wait: WaitingReason | null;
  /** True once its commit has a status from it. */
  isShown: boolean;
  /** Commit whose manifests are invalid. */
  invalid: { readonly commit: string; readonly error: DesiredStateError } | null;
}

const newPass = (): RunningPass => ({ drift: new Set(), wait: null, isShown: false, invalid: null });

/** Milliseconds after which a commit without a status is shown as waiting, such as for a platform that does not answer. */
const SLOW = 10_000;
/** Number of passes of the process before among which those of a commit are searched. */
const EARLIER = 50;

/** Commit statuses of one organization. Nothing that goes wrong here fails a pass. */
export class OrganizationCommitStatuses implements Feature {
  readonly stage = 2;
  readonly #context: OrganizationContext;
  readonly #statuses: OrganizationStatuses;
  readonly #records: StatusRecords;
  readonly #sender: StatusSender;
  readonly #redact: (text: string) => string;
  readonly #stopping = new AbortController();
  /** Aborts when a single round has to end, although the store fails. */
  readonly #once = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #pass = newPass();
  /** Start of the first pass of this process, in milliseconds since the epoch; null before it. */
  #startedAt: number | null = null;
  /** Latest passes before that; null before they were read. */
  #earlier: readonly PassRecord[] | null = null;
  #isSettled = false;
  /** Commit of the last manifests that were valid. */
  #commit: string | null = null;
  #ended: { readonly end: PassEnd; readonly pass: RunningPass; readonly commit: string | null } | null = null;

  /** Returns null if the configuration has none, and in a dry run, which writes nothing. */
  static open(context: OrganizationContext): OrganizationCommitStatuses | null {
    const { organization, abort, version, dryRun } = context;
    const statuses = dryRun ? null : openOrganizationStatuses(organization, abort, `octavo/${version}`);
    return statuses === null ? null : new OrganizationCommitStatuses(context, statuses);
  }

  private constructor(context: OrganizationContext, statuses: OrganizationStatuses) {
    const { organization, store, clock, random, stopping, log } = context;
    const wake = new WakeUpSignal();
    this.#context = context;
    this.#statuses = statuses;
    this.#redact = createRedactor(context.config.secrets);
    const signal = AbortSignal.any([stopping, this.#stopping.signal]);
    this.#records = new StatusRecords({
      table: store.commitStatuses(organization.id),
      onChange: () => wake.notify(),
      repeat: {
        clock,
        signal: AbortSignal.any([signal, this.#once.signal]),
        onError: (error) => log.warn({ reason: error.message }, 'cannot record the commit status; retrying'),
      },
    });
    this.#sender = new StatusSender({
      records: this.#records,
      forge: statuses.forge,
      environment: statuses.environment,
      wake,
      clock,
      random,
      signal,
      onRequest: (request) => this.#report(request),
      checkSend: () => context.checkSend(statuses.timeout),
    });
  }

  /** Listener for the passes of the organization. */
  events(): OrganizationEvents {
    return {
      onPassStart: () => {
        this.#pass = newPass();
        this.#startedAt ??= this.#context.clock.now();
      },
      onSource: ({ commit }) => {
        this.#commit = isFullCommit(commit) ? commit : null;
        if (isFullCommit(commit)) {
          this.#settle(commit);
          this.#change((records) => supersede(records, commit, this.#context.clock.now()));
          void this.#showSlow(commit, this.#pass);
        }
      },
      onBadSource: (error, _lastGood, head) => {
        if (error instanceof DesiredStateError && head !== null && isFullCommit(head.commit)) {
          this.#pass.invalid = { commit: head.commit, error };
        }
      },
      onPlan: (_planned, drift) => {
        this.#pass.drift = new Set(drift);
      },
      onWait: (reason, until) => {
        this.#pass.wait = { reason, until };
      },
      onApply: ({ plan }) => {
        this.#pass.isShown = true;
        const own = ownChanges(plan, this.#pass.drift);
        const due = dueChanges(own).length;
        const commit = this.#commit;
        if (due > 0) {
          const path = organizationPath(this.#context.organization.id);
          this.#change((records) => {
            const applied = countBefore(this.#find(records, commit), own.length);
            return this.#progress(records, commit, applyingProgress(due), path, {
              applied,
              total: applied + own.length,
            });
          });
        }
      },
      onPassEnd: (end) => {
        this.#pass.isShown = true;
        this.#ended = { end, pass: this.#pass, commit: this.#commit };
      },
      onRecorded: (number) => this.#recorded(number),
    };
  }

  /** Shows the result of the last pass, which is in the history with this number. */
  #recorded(number: number): void {
    const ended = this.#ended;
    this.#ended = null;
    if (ended === null) {
      return;
    }
    const { end, pass, commit } = ended;
    const path = passPath(this.#context.organization.id, number);
    this.#change(async (records) => {
      const record = this.#find(records, commit);
      const left = end.plan === null ? Number.POSITIVE_INFINITY : ownChanges(end.plan, pass.drift).length;
      const before = Math.max(countBefore(record, left), countApplied(await this.#readEarlier(), commit ?? ''));
      const isStopped = this.#context.stopping.aborted;
      const result = passProgress({ ...end, drift: pass.drift, wait: pass.wait, isStopped }, before);
      const { invalid } = pass;
      return [
        ...(invalid === null ? [] : this.#progress(records, invalid.commit, invalidProgress(invalid.error), path)),
        ...(result === null
          ? []
          : this.#progress(records, commit, result.progress, path, {
              applied: result.applied,
              // Without a plan, it is not known how many changes were applied.
              ...(end.plan === null ? {} : { total: null }),
            })),
      ];
    });
  }

  /** The request that has failed longest; null if none does. */
  get failure(): StatusFailure | null {
    return this.#sender.failure;
  }

  async start(): Promise<void> {
    this.#sending = this.#sender.run().catch((error: unknown) => {
      this.#context.log.error({ reason: messageOf(error) }, 'commit statuses are not sent any more');
    });
  }

  /** Sends what the passes have recorded. A forge that refuses it fails nothing. */
  async once(): Promise<boolean> {
    this.#once.abort();
    try {
      await this.#sender.sendDue();
    } catch (error) {
      this.#context.log.warn({ reason: messageOf(error) }, 'cannot read the commit statuses');
    }
    return true;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending;
  }

  get #history(): History {
    return this.#context.store.history(this.#context.organization.id);
  }

  /** Returns the latest passes of the process before. Throws StoreError. */
  async #readEarlier(): Promise<readonly PassRecord[]> {
    const startedAt = this.#startedAt ?? Number.POSITIVE_INFINITY;
    this.#earlier ??= (await this.#history.passes({ limit: EARLIER })).filter(({ endedAt }) => endedAt < startedAt);
    return this.#earlier;
  }

  /** Shows the result of the last commit of the process before, if that died between recording it and its status. */
  #settle(current: string): void {
    if (this.#isSettled) {
      return;
    }
    this.#isSettled = true;
    this.#change(async (records) => {
      const passes = await this.#readEarlier();
      const { commit = null, number = 0 } = passes.find((pass) => isFullCommit(pass.commit)) ?? {};
      const record = this.#find(records, commit);
      const isOpen = record === undefined || ['pending', 'running'].includes(record.wanted.state);
      const details = commit === null || commit === current || !isOpen ? null : await this.#history.pass(number);
      if (commit === null || details === null) {
        return [];
      }
      const applied = countApplied(passes, commit);
      const progress = recordedProgress(details, applied);
      const path = passPath(this.#context.organization.id, number);
      return progress === null ? [] : this.#progress(records, commit, progress, path, { applied, total: null });
    });
  }

  /** Shows a new commit whose pass takes long before it applies or ends. */
  async #showSlow(commit: string, pass: RunningPass): Promise<void> {
    const { clock, stopping, organization } = this.#context;
    await clock.sleep(SLOW, stopping).catch(() => {});
    if (!pass.isShown && !stopping.aborted) {
      const path = organizationPath(organization.id);
      this.#change((records) =>
        this.#find(records, commit) === undefined ? this.#progress(records, commit, slowProgress(), path) : [],
      );
    }
  }

  #find(records: readonly CommitStatusRecord[], commit: string | null): CommitStatusRecord | undefined {
    return findRecord(records, { commit: commit ?? '', context: this.#statuses.context });
  }

  #progress(
    records: readonly CommitStatusRecord[],
    commit: string | null,
    { state, description }: StatusProgress,
    path: string,
    counts: Pick<CommitProgress, 'applied' | 'total'> = {},
  ): readonly CommitStatusRecord[] {
    if (commit === null) {
      return [];
    }
    const { context, forge, environment } = this.#statuses;
    const { config, clock } = this.#context;
    const { listen, publicUrl } = config.ui;
    const line = messageLine(description, forge.maxDescription, this.#redact);
    const changed = changeProgress(records, {
      commit,
      context,
      progress: { state, description: line },
      url: listen === undefined || publicUrl === undefined ? null : `${publicUrl}${path}`,
      hasDeployments: environment !== null,
      now: clock.now(),
      ...counts,
    });
    return changed === null ? [] : [changed];
  }

  #change(change: RecordChange): void {
    this.#records.change(change).catch((error: unknown) => {
      this.#context.log.warn({ reason: messageOf(error) }, 'cannot record the commit status');
    });
  }

  #report({ commit, what, error }: StatusRequest): void {
    const { log, metrics, organization } = this.#context;
    const isRefused = (error as { disposition?: unknown } | null)?.disposition === 'stall';
    metrics.commitStatus(organization.id, error === null ? 'sent' : isRefused ? 'refused' : 'failed');
    if (error === null) {
      log.debug({ commit, what }, 'commit status set');
    } else {
      log.warn({ commit, what, reason: error.message }, 'cannot set the commit status');
    }
  }
}
