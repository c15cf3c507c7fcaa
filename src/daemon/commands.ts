/** Requests about organizations of other replicas: routed to the owner as commands, and run there. */

import { WakeUpSignal } from '../core/clock.ts';
import { errorToJson } from '../core/error-json.ts';
import { ConfigError, LeaseLostError, messageOf } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { approvalChoices, chosenApproval, meantApprovals } from '../plan/approval-choice.ts';
import { approvedChecksums } from '../reconcile/approvals.ts';
import { type RequestHandler, type RequestHandlers, readRequest } from '../server/requests.ts';
import type { OpenCommand } from '../store/commands.ts';
import { type Actor, findDone } from '../store/history.ts';
import type { FleetSignals } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { type AuditedRequest, chooseOrganization, describeRequest } from './actions.ts';
import type { CommandSender } from './command-sender.ts';
import type { FleetOrganizations } from './fleet/organizations.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import type { DaemonParts } from './parts.ts';

type CommandContext = Pick<DaemonContext, 'store' | 'clock' | 'log' | 'events' | 'stopping'>;

/**
 * Returns the result of a command that the audit has as done since it was sent. Every command may be carried out again; the
 * second time, its subject may be gone: a plan was applied, a pause has ended, a dead letter was dropped.
 */
async function findEarlierResult(
  store: Pick<Store, 'history' | 'organization'>,
  { config, reconciliation }: ManagedOrganization,
  { organization, kind, request, by, at }: OpenCommand,
): Promise<JsonObject | null> {
  if (request === null) {
    return null;
  }
  const { action, subject } = describeRequest(kind, request as unknown as AuditedRequest);
  const { checksum: typed } = request;
  // The subject of a decision is the whole checksum of what the person typed.
  const isSubject = (entry: string) =>
    typeof typed === 'string' ? meantApprovals(typed, [{ checksum: entry }]).length > 0 : entry === subject;
  const done = await findDone(store.history(organization), action, isSubject, by, at);
  if (done === null) {
    return null;
  }
  const named = typeof typed === 'string' ? { checksum: done.subject } : {};
  const result = { organization, ...request, ...named, isComplete: true, count: 0, repeated: true };
  if (action !== 'approve') {
    return result;
  }
  // Decisions are removed when their plan is applied.
  const decisions = await store.organization(organization).decisions();
  const isApplied = decisions.every(({ checksum }) => checksum !== done.subject);
  const authors = reconciliation?.reconciler.lastCheck?.authors ?? null;
  const isComplete = isApplied || approvedChecksums(decisions, config.approvals, authors).includes(done.subject);
  return { ...result, approved: [], isComplete };
}

/** A command that this replica works on. */
interface Running {
  readonly epoch: number;
  /** Null while it is being carried out, and after it was answered. */
  answer: JsonObject | null;
  isWorking: boolean;
}

/** Milliseconds between two checks for commands whose message was lost. */
const CHECK_INTERVAL = 5000;
/** Milliseconds after which commands are removed, and between two removals. */
const KEPT = 24 * 3_600_000;
const REMOVAL_INTERVAL = 3_600_000;

export class CommandRunner {
  readonly #context: CommandContext;
  readonly #signals: FleetSignals;
  readonly #organizations: Pick<FleetOrganizations, 'find'>;
  readonly #handlers: RequestHandlers;
  readonly #wake = new WakeUpSignal();
  readonly #running = new Map<string, Running>();
  #removedAt = Number.NEGATIVE_INFINITY;

  /** `handlers`: those of requests about the organizations of this replica. */
  constructor(
    context: CommandContext,
    signals: FleetSignals,
    organizations: Pick<FleetOrganizations, 'find'>,
    handlers: RequestHandlers,
  ) {
    this.#context = context;
    this.#signals = signals;
    this.#organizations = organizations;
    this.#handlers = handlers;
  }

  /** Checks for commands now: one may be possible that was not before. */
  wake(): void {
    this.#wake.notify();
  }

  /** Carries out commands until the daemon stops. */
  async run(): Promise<void> {
    const { clock, log, stopping } = this.#context;
    const end = this.#signals.listen(({ kind }) => kind === 'command' && this.#wake.notify());
    while (!stopping.aborted) {
      const seen = this.#wake.count;
      try {
        await this.#removeOld();
        await this.#check();
      } catch (error) {
        log.debug({ reason: messageOf(error) }, 'cannot read commands');
      }
      await this.#wake.wait(seen, CHECK_INTERVAL, clock, stopping);
    }
    end();
  }

  /** Starts the commands whose turn it is: for each organization, the oldest one of each kind. */
  async #check(): Promise<void> {
    const open = await this.#context.store.commands().open();
    const known = new Set(open.map(keyOf));
    for (const [key, { isWorking }] of this.#running) {
      if (!known.has(key) && !isWorking) {
        this.#running.delete(key);
      }
    }
    for (const command of open) {
      const managed = this.#organizations.find(command.organization);
      const isWorking = this.#running.get(keyOf(command))?.isWorking === true;
      if (managed !== undefined && !isWorking && isPossible(managed, command)) {
        void this.#work(managed, command);
      }
    }
  }

  /** Carries out a command, or stores the answer that could not be stored before. Never rejects. */
  async #work(managed: ManagedOrganization, command: OpenCommand): Promise<void> {
    const { store, clock, log } = this.#context;
    const { organization, number } = command;
    const { epoch } = managed.lease;
    const before = this.#running.get(keyOf(command));
    const running: Running = before?.epoch === epoch ? before : { epoch, answer: null, isWorking: true };
    running.isWorking = true;
    this.#running.set(keyOf(command), running);
    const commands = store.fenced(managed.lease).commands();
    try {
      if (running.answer === null && (await commands.begin(organization, number, epoch))) {
        running.answer = await this.#answer(managed, command);
      }
      if (running.answer !== null) {
        await commands.answer(organization, number, running.answer, clock.now());
        running.answer = null;
        await this.#signals.send({ kind: 'answer', payload: { organization, number } });
      }
      this.#wake.notify();
    } catch (error) {
      const level = error instanceof LeaseLostError ? 'debug' : 'warn';
      log[level]({ organization, number, reason: messageOf(error) }, 'cannot answer a command');
    } finally {
      running.isWorking = false;
    }
  }

  async #answer(managed: ManagedOrganization, command: OpenCommand): Promise<JsonObject> {
    try {
      return { ok: await this.#perform(managed, command) };
    } catch (error) {
      const earlier = command.epoch === null ? null : await findEarlierResult(this.#context.store, managed, command);
      return earlier === null ? { error: errorToJson(error) } : { ok: earlier };
    }
  }

  async #perform(managed: ManagedOrganization, { kind, request, ...command }: OpenCommand): Promise<JsonObject> {
    const { id } = managed;
    if (request === null) {
      throw new ConfigError('the command is not a JSON object; another program has added it');
    }
    switch (kind) {
      case 'act':
      case 'conversations':
      case 'clusters': {
        const read = readRequest(kind, request);
        if (typeof read !== 'function') {
          throw new ConfigError(
            `the replica that has the organization does not support the request (${read.join('; ')}); upgrade all replicas to one version`,
          );
        }
        return read(this.#handlers, command.by as Actor, id);
      }
      case 'push':
        managed.reconciliation?.fetchNow();
        managed.comments?.wake();
        return {};
      case 'hints':
        managed.conversations.wake();
        return {};
      default:
        throw new ConfigError(
          `the replica that has organization ${id} does not support the command "${kind}"; upgrade all replicas to one version`,
        );
    }
  }

  async #removeOld(): Promise<void> {
    const { store, clock } = this.#context;
    if (clock.monotonic() - this.#removedAt >= REMOVAL_INTERVAL) {
      this.#removedAt = clock.monotonic();
      await store.commands().removeBefore(clock.now() - KEPT);
    }
  }
}

function keyOf({ organization, number }: OpenCommand): string {
  return `${organization} ${number}`;
}

/** Returns false for a decision while the plan that it is about is not known yet: the owner has just begun. */
function isPossible({ reconciliation }: ManagedOrganization, { kind, request }: OpenCommand): boolean {
  return kind !== 'act' || request?.checksum === undefined || reconciliation?.reconciler.lastEnd !== null;
}

/**
 * Returns the handlers of requests about the organizations of all replicas: carried out here, or sent to the owner. `local`:
 * those of the organizations of this replica.
 */
export function routeRequests(
  local: RequestHandlers,
  { organizations, model }: Pick<DaemonParts, 'organizations' | 'model'>,
  sender: CommandSender,
): RequestHandlers {
  /** Finds the organization of a request: by its id, or by the plan that it names. */
  const targetOf = async (organization: string | null, checksum: string | null) => {
    await model.refresh();
    const states = model.organizations();
    const choices = states.flatMap((state) =>
      approvalChoices(state.reconciler?.lastCheck?.plan ?? null).map(({ checksum, what }) => {
        return { checksum, what: `${what} of ${state.id}`, state };
      }),
    );
    // The owner knows the plan that is present: it compares again what the person typed.
    const isSought = organization === null && checksum !== null && states.length > 1;
    return isSought ? chosenApproval(checksum, choices).state : chooseOrganization(states, organization);
  };
  const route =
    <Kind extends 'act' | 'conversations' | 'clusters'>(kind: Kind): RequestHandler<Kind> =>
    async (by, organization, request) => {
      const { id, owner } = await targetOf(organization, 'checksum' in request ? request.checksum : null);
      if (organizations.find(id) !== undefined) {
        return local[kind](by, id, request);
      }
      if (request.subcommand === 'push') {
        const place = owner.kind === 'replica' ? owner.address : 'the one that claims it';
        throw new ConfigError(
          `files are read by the replica that has organization ${id}, which is not this one; run the command at ${place}`,
        );
      }
      return sender.send(id, kind, request, by);
    };
  // Deliveries and sessions belong to no replica.
  return { ...local, act: route('act'), conversations: route('conversations'), clusters: route('clusters') };
}
