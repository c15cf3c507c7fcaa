/** Pass that simulates a crash at one of its writes. */
import type { ChangeResult } from '../../src/core/change.ts';
import { systemClock } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import type { Base } from '../../src/core/resource.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import { apply } from '../../src/reconcile/apply.ts';
import { platformSource } from '../../src/reconcile/observe.ts';
import { makePlan, type Planned } from '../../src/reconcile/planning.ts';
import { baseOfManifests, baseOfRecord } from '../../src/reconcile/record.ts';
import type { OrganizationRecord } from '../../src/store/record.ts';
import { connectTo, declare, type Manifests, planningInput, UNLIMITED } from './world.ts';

/**
 * Moment at which a pass dies: at the nth write to the platform, before it is processed or after it and before its
 * answer; or at the nth write to its own record, before or after it is stored.
 */
export interface Death {
  readonly write: number;
  readonly when: 'before' | 'after';
  /** The platform where absent. */
  readonly of?: 'record';
}

/** Base of a pass: the record, which changes with each pass, or fixed manifests (null: none). */
export type BaseSource = { readonly record: OrganizationRecord } | { readonly manifests: Manifests | null };

export interface CrashingPass {
  readonly planned: Planned;
  readonly results: readonly ChangeResult[];
  /** True if the pass reached the write at which it was to die. */
  readonly died: boolean;
  /** Writes to its record. */
  readonly recorded: number;
}

/**
 * Plans and applies with a connection of its own. When it dies, nothing more reaches the platform or the record, and
 * only those two survive, as if its process had been killed.
 */
export async function runCrashingPass(
  emulator: Emulator,
  manifests: Manifests,
  source: BaseSource,
  death: Death | null,
): Promise<CrashingPass> {
  const connection = connectTo(emulator.url, emulator);
  const end = new AbortController();
  const die = () => {
    end.abort(new Error('killed'));
    // Requests in flight have no effect.
    emulator.setFaults([{ fault: { kind: 'reset-before' } }]);
  };
  if (death !== null && death.of === undefined) {
    const match = { writes: true, nth: death.write };
    emulator.setFaults([
      { match, fault: { kind: 'hook', when: death.when, run: die } },
      { match, fault: { kind: death.when === 'before' ? 'reset-before' : 'reset-after' } },
    ]);
  }
  const kept =
    'record' in source ? crashing(source.record, end.signal, death?.of === 'record' ? death : null, die) : null;
  try {
    const organization = emulator.organization;
    const client = { organization, priority: 'apply' as const, signal: end.signal };
    const input = planningInput(organization, await declare(manifests), await baseOf(source), UNLIMITED);
    const planned = await makePlan(
      input,
      platformSource(openReader(connection, client), () => 0),
    );
    const applying = apply(input, planned, {
      writer: openWriter(connection, client),
      clock: systemClock,
      parallel: 20,
      signal: end.signal,
      abort: end.signal,
      record: kept?.record ?? null,
    });
    const { results } = await applying.catch((error: unknown) => {
      if (end.signal.aborted) {
        return { results: [] };
      }
      throw error;
    });
    return { planned, results, died: end.signal.aborted, recorded: kept?.writes() ?? 0 };
  } finally {
    await connection.close(0);
    emulator.setFaults([]);
  }
}

async function baseOf(source: BaseSource): Promise<Base> {
  if ('record' in source) {
    return (await baseOfRecord(source.record)).base;
  }
  return source.manifests === null ? null : baseOfManifests(kinds, await declare(source.manifests));
}

/** Record at which a pass may die, and to which a dead pass cannot write. */
function crashing(
  record: OrganizationRecord,
  dead: AbortSignal,
  death: Death | null,
  die: () => void,
): { readonly record: OrganizationRecord; writes(): number } {
  let writes = 0;
  const alive = <Arguments extends unknown[]>(write: (...rest: Arguments) => Promise<void>) => {
    return async (...rest: Arguments) => {
      dead.throwIfAborted();
      writes += 1;
      const dies = writes === death?.write;
      if (!dies || death?.when === 'after') {
        await write(...rest);
      }
      if (dies) {
        die();
        throw new StoreError('killed');
      }
    };
  };
  return {
    writes: () => writes,
    record: {
      read: () => record.read(),
      decisions: () => record.decisions(),
      put: alive((entries) => record.put(entries)),
      remove: alive((addresses) => record.remove(addresses)),
      moveHead: alive((head, served) => record.moveHead(head, served)),
      decide: alive((decision) => record.decide(decision)),
    },
  };
}
