/** Asks the owner of an organization to carry out a command, and waits for the answer. See docs/fleet.md#commands. */
import type { Clock } from '../../core/clock.ts';
import { errorFromJson } from '../../core/error-json.ts';
import { CancelledError, TransientError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { WakeUpSignal } from '../../core/wake-up-signal.ts';
import { spanWords } from '../../plan/render/words.ts';
import type { CommandKind, CommandTable } from '../../store/commands.ts';
import type { Actor } from '../../store/history.ts';
import type { FleetSignal, FleetSignals } from '../../store/leases.ts';
import type { OrganizationOwner } from '../../web/model/backend.ts';

export interface CommandSenderOptions {
  readonly commands: CommandTable;
  readonly signals: FleetSignals;
  readonly clock: Clock;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
  readonly owner: (organization: string) => OrganizationOwner;
}

/** Milliseconds until an answer is given up, and the first and the longest time between two checks for it. */
const LIMIT = 30_000;
const FIRST_CHECK = 250;
const LONGEST_CHECK = 5000;
/** Actor of commands that no person sends. */
const NOBODY: Actor = { name: '', method: 'socket' };

export class CommandSender {
  readonly #options: CommandSenderOptions;
  readonly #answered = new WakeUpSignal();

  constructor(options: CommandSenderOptions) {
    this.#options = options;
    const end = options.signals.listen(({ kind }) => kind === 'answer' && this.#answered.notify());
    options.stopping.addEventListener('abort', end, { once: true });
  }

  /**
   * Sends a command and returns its answer. Throws the error of the owner, TransientError if it does not answer in time,
   * and StoreError.
   */
  async send(organization: string, kind: CommandKind, request: JsonObject, by: Actor): Promise<JsonObject> {
    const { commands, clock, stopping } = this.#options;
    const number = await this.#add(organization, kind, request, by, false);
    const from = clock.monotonic();
    for (let wait = FIRST_CHECK; ; wait = Math.min(2 * wait, LONGEST_CHECK)) {
      const seen = this.#answered.count;
      const answer = await commands.findAnswer(organization, number);
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

  /** Sends a command without waiting for its answer. An equal command that waits is enough. Throws StoreError. */
  async notify(organization: string, kind: CommandKind): Promise<void> {
    await this.#add(organization, kind, {}, NOBODY, true);
  }

  async #add(organization: string, kind: CommandKind, request: JsonObject, by: Actor, isShared: boolean) {
    const { commands, signals, clock } = this.#options;
    const number = await commands.add({ organization, kind, request, by, at: clock.now() }, isShared);
    const signal: FleetSignal = { kind: 'command', payload: { organization } };
    // The owner checks regularly, too.
    await signals.send(signal).catch(() => undefined);
    return number;
  }

  #timeout(organization: string): string {
    const owner = this.#options.owner(organization);
    const rest = 'the command may still be carried out; check the audit before you repeat it';
    if (owner.kind === 'replica') {
      return `replica ${owner.id} (${owner.address}) has organization ${organization} and did not answer within ${LIMIT / 1000} seconds; ${rest}`;
    }
    const since = owner.kind === 'none' ? owner.since : null;
    const age = since === null ? '' : ` for ${spanWords(this.#options.clock.now() - since)}`;
    return `no replica has had organization ${organization}${age}, so nothing answered within ${LIMIT / 1000} seconds; ${rest}`;
  }
}

function resultOf({ ok, error }: JsonObject): JsonObject {
  if (isObject(error)) {
    throw errorFromJson(error as JsonObject);
  }
  return isObject(ok) ? (ok as JsonObject) : {};
}
