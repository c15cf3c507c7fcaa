/** Sends commands to the owners of organizations, and waits for their answers. */
import { WakeUpSignal } from '../core/clock.ts';
import { errorFromJson } from '../core/error-json.ts';
import { CancelledError, messageOf, TransientError } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { spanWords } from '../plan/render/words.ts';
import type { CommandKind } from '../store/commands.ts';
import type { Actor } from '../store/history.ts';
import type { FleetSignals } from '../store/leases.ts';
import { type OrganizationOwner, organizationTopic } from '../web/model/page.ts';
import type { DaemonContext } from './organization/feature.ts';

/** Milliseconds until an answer is given up, and the first and the longest time between two checks for it. */
const LIMIT = 30_000;
const FIRST_CHECK = 250;
const LONGEST_CHECK = 5000;
/** Actor of commands that no person sends. */
const NOBODY: Actor = { name: '', method: 'socket' };

/** Sends commands to the owners of organizations. */
export type CommandSender = ReturnType<typeof openCommandSender>;

/** Opens the sender; `ownerOf` returns who has an organization now. */
export function openCommandSender(
  { store, clock, log, events, stopping }: Pick<DaemonContext, 'store' | 'clock' | 'log' | 'events' | 'stopping'>,
  signals: FleetSignals,
  ownerOf: (organization: string) => OrganizationOwner,
) {
  const answered = new WakeUpSignal();
  const end = signals.listen(({ kind }) => kind === 'answer' && answered.notify());
  stopping.addEventListener('abort', end, { once: true });
  const add = async (organization: string, kind: CommandKind, request: JsonObject, by: Actor, isShared: boolean) => {
    const number = await store.commands().add({ organization, kind, request, by, at: clock.now() }, isShared);
    // The owner checks regularly, too.
    await signals.send({ kind: 'command', payload: { organization } });
    return number;
  };
  const findAnswer = async (organization: string, number: number): Promise<JsonObject> => {
    const from = clock.monotonic();
    for (let wait = FIRST_CHECK; ; wait = Math.min(2 * wait, LONGEST_CHECK)) {
      const seen = answered.count;
      const answer = await store.commands().findAnswer(organization, number);
      if (answer !== null) {
        return resultOf(answer);
      }
      const left = LIMIT - (clock.monotonic() - from);
      if (stopping.aborted) {
        throw new CancelledError('the daemon is stopping; the command may still be carried out');
      }
      if (left <= 0) {
        throw new TransientError(describeTimeout(organization, ownerOf(organization), clock.now()), true);
      }
      await answered.wait(seen, Math.min(wait, left), clock, stopping);
    }
  };
  return {
    /**
     * Sends a command and returns its answer. Throws the error of the owner, TransientError if it does not answer in time,
     * and StoreError.
     */
    async send(organization: string, kind: CommandKind, request: object, by: Actor): Promise<JsonObject> {
      try {
        return await findAnswer(organization, await add(organization, kind, request as JsonObject, by, false));
      } finally {
        events.publish.onChange?.(organizationTopic(organization));
      }
    },
    /**
     * Sends a command without waiting for its answer. An equal command that waits is enough, and one that is lost only delays:
     * the owner polls regularly. Never rejects.
     */
    async notify(organization: string, kind: CommandKind): Promise<void> {
      await add(organization, kind, {}, NOBODY, true).catch((error: unknown) => {
        log.warn({ organization, reason: messageOf(error) }, 'cannot notify the owner of a webhook');
      });
    },
  };
}

function describeTimeout(organization: string, owner: OrganizationOwner, now: number): string {
  const rest = 'the command may still be carried out; check the audit before you repeat it';
  if (owner.kind === 'replica') {
    return `replica ${owner.id} (${owner.address}) has organization ${organization} and did not answer within ${LIMIT / 1000} seconds; ${rest}`;
  }
  const since = owner.kind === 'none' ? owner.since : null;
  const age = since === null ? '' : ` for ${spanWords(now - since)}`;
  return `no replica has had organization ${organization}${age}, so nothing answered within ${LIMIT / 1000} seconds; ${rest}`;
}

function resultOf({ ok, error }: JsonObject): JsonObject {
  if (isObject(error)) {
    throw errorFromJson(error as JsonObject);
  }
  return isObject(ok) ? (ok as JsonObject) : {};
}
