import { type Address, unboundAddress } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import { DependencyNotReadyError, RejectedError, TransientError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type PlannedRequest, Ref, RefMap } from '../kinds/request.ts';
import type { Writer } from '../platform/client.ts';

/** Ids by address, growing while a plan is applied. */
export type Bindings = Map<Address, string>;

/** How often a write whose answer was lost is looked up and sent again. */
const ATTEMPTS = 3;

export interface SendContext {
  readonly writer: Writer;
  readonly bindings: Bindings;
  readonly signal: AbortSignal;
  /** Finds what a creation whose answer was lost has made, and binds it; null where it made nothing. */
  readonly locate: (change: Change) => Promise<string | null>;
}

/**
 * Sends one planned request. A creation whose answer was lost is looked up before it is sent again; what says that it
 * is so already, where that is tolerated, counts as done.
 */
export async function sendPlanned(planned: PlannedRequest, change: Change, context: SendContext): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const input = fillIn(planned.input, change, context.bindings);
    try {
      const answer = await context.writer.send(planned.operation, input as never, { signal: context.signal });
      for (const [address, id] of planned.learns(answer)) {
        context.bindings.set(address, id);
      }
      return;
    } catch (error) {
      if (error instanceof RejectedError && planned.tolerates.includes(error.status)) {
        return;
      }
      const lost = error instanceof TransientError && error.maybeDone && planned.operation.repeat === 'never';
      if (!lost || attempt === ATTEMPTS) {
        throw error;
      }
      if (change.action === 'create' && (await context.locate(change)) !== null) {
        return;
      }
    }
  }
}

/** The input with an id for every reference in it. Throws DependencyNotReadyError where one is not known yet. */
function fillIn(value: unknown, change: Change, bindings: Bindings): unknown {
  if (value instanceof Ref) {
    return idOf(value.address, change, bindings);
  }
  if (value instanceof RefMap) {
    return Object.fromEntries(
      value.entries.map(([key, member]) => [idOf(key.address, change, bindings), fillIn(member, change, bindings)]),
    );
  }
  if (Array.isArray(value)) {
    return value.map((item) => fillIn(item, change, bindings));
  }
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillIn(member, change, bindings)]));
  }
  return value;
}

function idOf(address: Address, change: Change, bindings: Bindings): string {
  // A deletion that is half of a replacement means the old resource, whatever the address is bound to by now.
  if (change.action === 'delete' && address === change.address && change.id !== null) {
    return change.id;
  }
  const id = address.startsWith(unboundAddress('')) ? address.slice(1) : bindings.get(address);
  if (id === undefined) {
    throw new DependencyNotReadyError(`${address} is not there yet`);
  }
  return id;
}
