import type { Plan } from '../../core/change.ts';
import { RefusedPlanError } from '../../core/errors.ts';
import { approvalsOf } from '../../plan/checksum.ts';
import type { PassEnd, Trigger } from './pass.ts';
import { type PassOptions, PassRunner } from './run-pass.ts';
import { TriggerLoop } from './trigger-loop.ts';

/** Reconciles one organization: runs a pass for each trigger, and approves plans. */
export class OrganizationReconciler {
  readonly #options: PassOptions;
  readonly #passes: PassRunner;
  readonly #loop: TriggerLoop;
  #lastEnd: PassEnd | null = null;

  constructor(options: PassOptions) {
    this.#options = options;
    this.#passes = new PassRunner(options);
    this.#loop = new TriggerLoop(async (trigger) => {
      this.#lastEnd = await this.#passes.run(trigger);
      options.events.onPassEnd?.(this.#lastEnd);
    }, options.signal);
  }

  get id(): string {
    return this.#options.config.id;
  }

  /** Result of the last pass; null before the first one has ended. */
  get lastEnd(): PassEnd | null {
    return this.#lastEnd;
  }

  get lastPlan(): Plan | null {
    return this.#passes.lastPlan;
  }

  /** Requests a pass. Resolves when no pass is running. */
  trigger(trigger: Trigger): Promise<void> {
    return this.#loop.trigger(trigger);
  }

  /** Resolves when no pass is running. */
  idle(): Promise<void> {
    return this.#loop.idle();
  }

  /** Approves the plan with this checksum, or only its held changes; null if this organization has no such plan. */
  async approve(checksum: string): Promise<Plan | null> {
    const held = this.lastPlan;
    if (held === null || (checksum !== held.checksum && checksum !== held.heldChecksum)) {
      return null;
    }
    if (held.verdict.state === 'ready' && held.heldChecksum === null) {
      return null;
    }
    if (held.verdict.state === 'refused') {
      throw new RefusedPlanError(`refused, and cannot be approved: ${held.verdict.reasons.join('; ')}`);
    }
    for (const each of approvalsOf(held, checksum)) {
      await this.#options.record.approve(each, this.#options.clock.now());
    }
    return held;
  }
}
