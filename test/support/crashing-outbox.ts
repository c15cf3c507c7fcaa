/** Outbox that simulates a crash at one of its writes. */
import type { Outbox } from '../../src/store/outbox/outbox.ts';

/** The write at which a process dies, counted from 1, and whether before or after it. */
export interface OutboxDeath {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** Operations that change the outbox. */
const WRITES: readonly (keyof Outbox)[] = [
  ...(['put', 'polled', 'reset', 'hint', 'recover', 'next', 'sent', 'doubt', 'rest', 'release', 'split'] as const),
  ...(['bury', 'retry', 'drop', 'correctTimes', 'postponeRecheck'] as const),
];

/** Outbox whose process dies at one of its writes; after that, it does nothing. */
export class CrashingOutbox {
  readonly outbox: Outbox;
  writes = 0;
  isDead = false;
  /** The next write to die at; null: none. */
  death: OutboxDeath | null = null;

  /** `onDeath` is called at the write at which it dies, `onWrite` after each write that was kept. */
  constructor(real: Outbox, onDeath: () => void, onWrite: () => void = () => undefined) {
    const die = () => {
      this.isDead = true;
      onDeath();
      throw new Error('killed');
    };
    const guarded = (name: string, work: (...given: unknown[]) => Promise<unknown>) => {
      return async (...given: unknown[]) => {
        if (this.isDead) {
          throw new Error('killed');
        }
        if (!WRITES.includes(name as keyof Outbox)) {
          return work(...given);
        }
        this.writes += 1;
        const when = this.death?.write === this.writes ? this.death.when : null;
        if (when === 'before') {
          die();
        }
        const result = await work(...given);
        onWrite();
        if (when === 'after') {
          die();
        }
        return result;
      };
    };
    this.outbox = Object.fromEntries(
      Object.entries(real).map(([name, work]) => [name, guarded(name, work as never)]),
    ) as unknown as Outbox;
  }
}
