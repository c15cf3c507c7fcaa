/** Actions on organizations of other replicas: sent to the owner as commands, and run there. */

import type { ZodType } from 'zod';
import { clusterRequest } from '../clusters/control-api.ts';
import { conversationRequest } from '../conversations/control-api.ts';
import { WakeUpSignal } from '../core/clock.ts';
import { errorFromJson, errorToJson } from '../core/error-json.ts';
import { CancelledError, ConfigError, LeaseLostError, messageOf, TransientError } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { heldChecksums } from '../plan/guard.ts';
import { spanWords } from '../plan/render/words.ts';
import { actionRequest } from '../reconcile/approvals.ts';
import type { CommandKind, OpenCommand } from '../store/commands.ts';
import type { Actor } from '../store/history.ts';
import type { FleetSignal, FleetSignals } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import type { ActionHandlers, Backend, OrganizationOwner } from '../web/model/backend.ts';
import { type AuditedRequest, chooseOrganization, describeRequest } from './actions.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';

type CommandContext = Pick<DaemonContext, 'store' | 'clock' | 'log' | 'events'>;

/** Number of entries of the audit that are searched. */
const SEARCHED = 100;

/**
 * Returns the result of a command that the audit has as done since it was sent. Every command may be carried out again; the
 * second time, its subject may be gone: a plan was applied, a pause has ended, a dead letter was dropped.
 */
async function findEarlierResult(
  store: Pick<Store, 'history'>,
  { organization, kind, request, by, at }: OpenCommand,
): Promise<JsonObject | null> {
  if (request === null) {
    return null;
  }
  const { action, subject } = describeRequest(kind, request as unknown as AuditedRequest);
  const entries = await store.history(organization).audit({ limit: SEARCHED });
  const isDone = entries.some(
    (entry) =>
      entry.outcome === 'done' &&
      entry.at >= at &&
      entry.action === action &&
      entry.subject === subject &&
      entry.actor.name === by.name &&
      entry.actor.method === by.method,
  );
  return isDone ? { organization, ...request, isComplete: true, count: 0, repeated: true } : null;
}

/** Milliseconds until an answer is given up, and the first and the longest time between two checks for it. */
const LIMIT = 30_000;
const FIRST_CHECK = 250;
const LONGEST_CHECK = 5000;
/** Actor of commands that no person sends. */
const NOBODY: Actor = { name: '', method: 'socket' };

export class CommandSender {
  readonly #context: CommandContext;
  readonly #signals: FleetSignals;
  readonly #stopping: AbortSignal;
  readonly #owner: (organization: string) => OrganizationOwner;
  readonly #answered = new WakeUpSignal();

  /** `stopping` aborts when the process stops. */
  constructor(
    context: CommandContext,
    signals: FleetSignals,
    stopping: AbortSignal,
    owner: (organization: string) => OrganizationOwner,
  ) {
    this.#context = context;
    this.#signals = signals;
    this.#stopping = stopping;
    this.#owner = owner;
    const end = signals.listen(({ kind }) => kind === 'answer' && this.#answered.notify());
    stopping.addEventListener('abort', end, { once: true });
  }

  /**
   * Sends a command and returns its answer. Throws the error of the owner, TransientError if it does not answer in time,
   * and StoreError.
   */
  async send(organization: string, kind: CommandKind, request: object, by: Actor): Promise<JsonObject> {
    try {
      return await this.#ask(organization, kind, request as JsonObject, by);
    } finally {
      this.#context.events.publish.onChange?.(organization, true);
    }
  }

  /** Sends a command without waiting for its answer. An equal command that waits is enough. Throws StoreError. */
  async notify(organization: string, kind: CommandKind): Promise<void> {
    await this.#add(organization, kind, {}, NOBODY, true);
  }

  async #ask(organization: string, kind: CommandKind, request: JsonObject, by: Actor): Promise<JsonObject> {
    const { store, clock } = this.#context;
    const stopping = this.#stopping;
    const number = await this.#add(organization, kind, request, by, false);
    const from = clock.monotonic();
    for (let wait = FIRST_CHECK; ; wait = Math.min(2 * wait, LONGEST_CHECK)) {
      const seen = this.#answered.count;
      const answer = await store.commands().findAnswer(organization, number);
      if (answer !== null) {
        return resultOf(answer);
      }
      const left = LIMIT - (clock.monotonic() - from);
      if (stopping.aborted) {
        throw new CancelledError('the daemon is stopping; the command may still be carried out');
      }
      if (left <= 0) {
        throw new TransientError(this.#timeout(organization), true);
      }
      await this.#answered.wait(seen, Math.min(wait, left), clock, stopping);
    }
  }

  async #add(organization: string, kind: CommandKind, request: JsonObject, by: Actor, isShared: boolean) {
    const { store, clock } = this.#context;
    const number = await store.commands().add({ organization, kind, request, by, at: clock.now() }, isShared);
    const signal: FleetSignal = { kind: 'command', payload: { organization } };
    // The owner checks regularly, too.
    await this.#signals.send(signal).catch(() => undefined);
    return number;
  }

  #timeout(organization: string): string {
    const owner = this.#owner(organization);
    const rest = 'the command may still be carried out; check the audit before you repeat it';
    if (owner.kind === 'replica') {
      return `replica ${owner.id} (${owner.address}) has organization ${organization} and did not answer within ${LIMIT / 1000} seconds; ${rest}`;
    }
    const since = owner.kind === 'none' ? owner.since : null;
    const age = since === null ? '' : ` for ${spanWords(this.#context.clock.now() - since)}`;
    return `no replica has had organization ${organization}${age}, so nothing answered within ${LIMIT / 1000} seconds; ${rest}`;
  }
}

function resultOf({ ok, error }: JsonObject): JsonObject {
  if (isObject(error)) {
    throw errorFromJson(error as JsonObject);
  }
  return isObject(ok) ? (ok as JsonObject) : {};
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
  readonly #find: (organization: string) => ManagedOrganization | undefined;
  readonly #actions: ActionHandlers;
  readonly #wake = new WakeUpSignal();
  readonly #running = new Map<string, Running>();
  #removedAt = Number.NEGATIVE_INFINITY;

  /** `actions`: those on the organizations of this replica, which `find` returns. */
  constructor(
    context: CommandContext,
    signals: FleetSignals,
    find: (organization: string) => ManagedOrganization | undefined,
    actions: ActionHandlers,
  ) {
    this.#context = context;
    this.#signals = signals;
    this.#find = find;
    this.#actions = actions;
  }

  /** Checks for commands now: one may be possible that was not before. */
  wake(): void {
    this.#wake.notify();
  }

  /** Carries out commands until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    const end = this.#signals.listen(({ kind }) => kind === 'command' && this.#wake.notify());
    while (!signal.aborted) {
      const seen = this.#wake.count;
      try {
        await this.#removeOld();
        await this.#check();
      } catch (error) {
        log.debug({ reason: messageOf(error) }, 'cannot read commands');
      }
      await this.#wake.wait(seen, CHECK_INTERVAL, clock, signal);
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
      const managed = this.#find(command.organization);
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
        await this.#signals.send({ kind: 'answer', payload: { organization, number } }).catch(() => undefined);
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
      const earlier = command.epoch === null ? null : await findEarlierResult(this.#context.store, command);
      return earlier === null ? { error: errorToJson(error) } : { ok: earlier };
    }
  }

  async #perform(managed: ManagedOrganization, { kind, request, ...command }: OpenCommand): Promise<JsonObject> {
    const actions = this.#actions;
    const { id } = managed;
    const by = command.by as Actor;
    if (request === null) {
      throw new ConfigError('the command is not a JSON object; another program has added it');
    }
    switch (kind) {
      case 'act':
        return actions.act(by, id, read(actionRequest, request));
      case 'conversations':
        return actions.conversations(by, id, read(conversationRequest, request));
      case 'clusters':
        return actions.clusters(by, id, read(clusterRequest, request));
      case 'push':
        managed.reconciliation?.fetchNow();
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

/** Reads a request. Throws ConfigError for one that this version does not support. */
function read<T>(schema: ZodType<T>, request: JsonObject): T {
  const parsed = schema.safeParse(request);
  if (parsed.success) {
    return parsed.data;
  }
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new ConfigError(
    `the replica that has the organization does not support the request (${problems.join('; ')}); upgrade all replicas to one version`,
  );
}

function keyOf({ organization, number }: OpenCommand): string {
  return `${organization} ${number}`;
}

/** Returns false for a decision while the plan that it is about is not known yet: the owner has just begun. */
function isPossible({ reconciliation }: ManagedOrganization, { kind, request }: OpenCommand): boolean {
  return kind !== 'act' || request?.checksum === undefined || reconciliation?.reconciler.lastEnd !== null;
}

/**
 * Returns the actions on the organizations of all replicas: carried out here, or sent to the owner. `local`: actions on the
 * organizations of this replica, which `find` returns.
 */
export function routeActions(
  local: ActionHandlers,
  find: (organization: string) => ManagedOrganization | undefined,
  backend: Pick<Backend, 'refresh' | 'organizations'>,
  sender: CommandSender,
): ActionHandlers {
  /** Finds the organization of a request: by its id, or by the plan that it names. */
  const targetOf = async (organization: string | null, checksum: string | null = null) => {
    await backend.refresh();
    const states = backend.organizations();
    const holder =
      organization !== null || checksum === null
        ? undefined
        : states.find(({ reconciler }) => heldChecksums(reconciler?.lastCheck?.plan ?? null, 'any').includes(checksum));
    const { id, owner } = holder ?? chooseOrganization(states, organization);
    return { id, owner, isLocal: find(id) !== undefined };
  };
  return {
    async act(by, organization, request) {
      const { id, isLocal } = await targetOf(organization, 'checksum' in request ? request.checksum : null);
      return isLocal ? local.act(by, id, request) : sender.send(id, 'act', request, by);
    },
    async conversations(by, organization, request) {
      const { id, isLocal, owner } = await targetOf(organization);
      if (isLocal) {
        return local.conversations(by, id, request);
      }
      if (request.subcommand === 'push') {
        const place = owner.kind === 'replica' ? owner.address : 'the one that claims it';
        throw new ConfigError(
          `files are read by the replica that has organization ${id}, which is not this one; run the command at ${place}`,
        );
      }
      return sender.send(id, 'conversations', request, by);
    },
    async clusters(by, organization, request) {
      const { id, isLocal } = await targetOf(organization);
      return isLocal ? local.clusters(by, id, request) : sender.send(id, 'clusters', request, by);
    },
    // Deliveries and sessions belong to no replica.
    deliveries: (by, request) => local.deliveries(by, request),
    sessions: (by, request) => local.sessions(by, request),
  };
}
