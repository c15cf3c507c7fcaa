/** Reconciles one organization: a pass for each trigger, one at a time, and the decisions of people about its plans. */
import type { Plan } from '../core/change.ts';
import { RefusedPlanError } from '../core/errors.ts';
import { approvalsOf, heldChecksums } from '../plan/guard.ts';
import type { Actor } from '../store/history.ts';
import { approvedChecksums, checkApprover } from './approvals.ts';
import { type PassEnd, PassRunner, type Trigger } from './pass.ts';

/** Reconciles one organization: runs a pass for each trigger, and approves plans. */
export class OrganizationReconciler extends PassRunner {
  /** Cause of the pass that follows the running one; null: none was requested. */
  #next: Trigger | null = null;
  #running: Promise<void> | null = null;
  /** Result of the last pass; null before the first one has ended. */
  lastEnd: PassEnd | null = null;
  /** End of the first of the passes that have failed with the same kind of error since, in milliseconds since the epoch. */
  failingSince: number | null = null;

  get id(): string {
    return this.options.config.id;
  }

  get lastPlan(): Plan | null {
    return this.lastCheck?.plan ?? null;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /**
   * Requests a pass. Triggers that arrive during a pass are coalesced into one more pass. Resolves when no pass is
   * running.
   */
  trigger(trigger: Trigger): Promise<void> {
    this.#next = trigger;
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Resolves when no pass is running. */
  idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  async #run(): Promise<void> {
    const { signal, events } = this.options;
    try {
      while (this.#next !== null && !signal.aborted) {
        const trigger = this.#next;
        this.#next = null;
        const end = await this.pass(trigger);
        this.failingSince = failingSince(this.lastEnd, this.failingSince, end);
        this.lastEnd = end;
        events.onPassEnd?.(end);
      }
    } finally {
      this.#running = null;
    }
  }

  /**
   * Approves the plan with this checksum, or only its held changes; null if this organization has no such plan. Throws
   * RefusedPlanError if it cannot be approved, or not by this person.
   */
  async approve(checksum: string, by: Actor, reason: string): Promise<PlanApproval | null> {
    const plan = this.#heldPlan(checksum);
    if (plan === null) {
      return null;
    }
    if (plan.verdict.state === 'refused') {
      throw new RefusedPlanError(`refused, and cannot be approved: ${plan.verdict.reasons.join('; ')}`);
    }
    const { approvals } = this.options.config;
    const authors = this.lastCheck?.authors ?? null;
    checkApprover(by, authors, approvals);
    for (const each of approvalsOf(plan, checksum)) {
      await this.#decide(each, 'approved', by, reason);
    }
    const decisions = await this.options.record.decisions();
    return { plan, isComplete: approvedChecksums(decisions, approvals, authors).includes(checksum) };
  }

  /** Rejects the plan with this checksum: removes its approvals, until somebody approves it again. Null: no such plan. */
  async reject(checksum: string, by: Actor, reason: string): Promise<Plan | null> {
    const plan = this.#heldPlan(checksum);
    if (plan !== null) {
      for (const each of approvalsOf(plan, checksum)) {
        await this.#decide(each, 'rejected', by, reason);
      }
    }
    return plan;
  }

  /** Returns the last plan if this checksum approves what is held in it. */
  #heldPlan(checksum: string): Plan | null {
    return heldChecksums(this.lastPlan, 'any').includes(checksum) ? this.lastPlan : null;
  }

  #decide(checksum: string, verdict: 'approved' | 'rejected', by: Actor, reason: string): Promise<void> {
    const { record, clock } = this.options;
    return record.decide({ checksum, verdict, by, reason, at: clock.now() });
  }
}

function failingSince(before: PassEnd | null, since: number | null, { error, endedAt }: PassEnd): number | null {
  if (error === null) {
    return null;
  }
  return before?.error?.name === error.name ? (since ?? endedAt) : endedAt;
}

/** Approval of one person. */
interface PlanApproval {
  readonly plan: Plan;
  /** False: more people have to approve. */
  readonly isComplete: boolean;
}
