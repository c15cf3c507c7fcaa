/** Carries out the commands for the organizations of this replica. See docs/fleet.md#commands. */
import type { ZodType } from 'zod';
import { clusterRequest } from '../../clusters/control-api.ts';
import { conversationRequest } from '../../conversations/ingestion/control-api.ts';
import type { Clock } from '../../core/clock.ts';
import { errorToJson } from '../../core/error-json.ts';
import { ConfigError, LeaseLostError, messageOf } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { WakeUpSignal } from '../../core/wake-up-signal.ts';
import type { Logger } from '../../log.ts';
import { actionRequest } from '../../reconcile/approvals.ts';
import type { OpenCommand } from '../../store/commands.ts';
import type { Actor } from '../../store/history.ts';
import type { FleetSignals } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { ActionHandlers } from '../../web/model/backend.ts';
import type { ManagedOrganization } from '../organization/managed-organization.ts';
import { findEarlierResult } from './earlier-result.ts';

export interface CommandRunnerOptions {
  readonly store: Store;
  readonly signals: FleetSignals;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
  /** Returns an organization of this replica. */
  readonly find: (organization: string) => ManagedOrganization | undefined;
  /** Actions on organizations of this replica. */
  readonly actions: ActionHandlers;
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
  readonly #options: CommandRunnerOptions;
  readonly #wake = new WakeUpSignal();
  readonly #running = new Map<string, Running>();
  #removedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  /** Checks for commands now: one may be possible that was not before. */
  wake(): void {
    this.#wake.notify();
  }

  /** Carries out commands until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { signals, clock, log } = this.#options;
    const end = signals.listen(({ kind }) => kind === 'command' && this.#wake.notify());
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
    const open = await this.#options.store.commands().open();
    const known = new Set(open.map(keyOf));
    for (const [key, { isWorking }] of this.#running) {
      if (!known.has(key) && !isWorking) {
        this.#running.delete(key);
      }
    }
    for (const command of open) {
      const managed = this.#options.find(command.organization);
      const isWorking = this.#running.get(keyOf(command))?.isWorking === true;
      if (managed !== undefined && !isWorking && isPossible(managed, command)) {
        void this.#work(managed, command);
      }
    }
  }

  /** Carries out a command, or stores the answer that could not be stored before. Never rejects. */
  async #work(managed: ManagedOrganization, command: OpenCommand): Promise<void> {
    const { store, signals, clock, log } = this.#options;
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
        await signals.send({ kind: 'answer', payload: { organization, number } }).catch(() => undefined);
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
      const earlier = command.epoch === null ? null : await findEarlierResult(this.#options.store, command);
      return earlier === null ? { error: errorToJson(error) } : { ok: earlier };
    }
  }

  async #perform(managed: ManagedOrganization, { kind, request, ...command }: OpenCommand): Promise<JsonObject> {
    const { actions } = this.#options;
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
    const { store, clock } = this.#options;
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
