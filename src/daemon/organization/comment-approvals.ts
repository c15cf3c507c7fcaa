/** Approves plans by comments on pull requests: judges each command, answers it, and approves the plan once it waits. */
import * as z from 'zod';
import { findStatusForge } from '../../config/forge.ts';
import { type Clock, WakeUpSignal } from '../../core/clock.ts';
import { messageOf, RefusedPlanError } from '../../core/errors.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { type ApprovalReader, type CommentVerdict, openApprovalReader } from '../../forge/approval-comments.ts';
import type { AnnouncedComment } from '../../forge/webhooks.ts';
import { heldChecksums } from '../../plan/guard.ts';
import { codeSpan } from '../../plan/render/markdown.ts';
import { approvalSentence, heldChanges } from '../../plan/render/sentence.ts';
import { counted, printable, shortApproval } from '../../plan/render/words.ts';
import { readAnnounced } from '../../reconcile/push-receiver.ts';
import type { Actor } from '../../store/history.ts';
import type { Note } from '../../store/record.ts';
import { decisionEvents } from '../facts/reporting.ts';
import { carryOut } from './audit.ts';
import type { Feature, OrganizationContext, OrganizationEvents } from './feature.ts';
import type { Reconciliation } from './reconciliation.ts';

/** Milliseconds between two looks at comments that wait, such as for a merge, if nothing happens. */
const INTERVAL = 5 * 60_000;

/** Milliseconds that a comment waits for its merge, and that one is remembered, so that it cannot approve twice. */
const KEPT = 30 * 24 * 3_600_000;
const MAX_KEPT = 200;

const keptSchema = z.object({
  pull: z.number(),
  comment: z.number(),
  text: z.string(),
  checksum: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** True: it has approved a plan, was refused later, or was not needed. */
  isDone: z.boolean(),
  /** True: with it, enough people had approved the plan. */
  wasEnough: z.boolean(),
});

/** A comment that approves a plan. */
type KeptComment = Readonly<z.output<typeof keptSchema>>;

type State = Readonly<z.output<typeof stateSchema>>;
type Approved = CommentVerdict & { readonly kind: 'approved' };

const APPROVED_BEFORE = 'it was approved by comment before; approve what waits now on the web page';

/** Longest sentence about a plan in an answer, in characters. */
const MAX_SENTENCE = 500;

const stateSchema = z.object({
  /** Comments that were judged, of those that the webhook keeps. */
  judged: z.array(z.number()),
  kept: z.array(keptSchema).max(MAX_KEPT),
});

/** Approvals by comment of one organization. Nothing that goes wrong here fails a pass. */
export class OrganizationCommentApprovals implements Feature {
  readonly stage = 2;
  readonly #context: OrganizationContext;
  readonly #reconciliation: Reconciliation;
  readonly #reader: ApprovalReader;
  readonly #note: Note;
  readonly #wake = new WakeUpSignal();
  #working: Promise<void> = Promise.resolve();

  /** Returns null if comments approve nothing, and in a dry run. */
  static open(context: OrganizationContext, reconciliation: Reconciliation): OrganizationCommentApprovals | null {
    const { organization, dryRun, clock, abort, stopping, version } = context;
    const { id, source, forge } = organization;
    if (dryRun || source?.git === undefined || forge?.approveByComment === undefined) {
      return null;
    }
    const { git } = source;
    const found = findStatusForge(forge, git.url);
    if (!('type' in found) || forge.token === undefined) {
      return null;
    }
    const access = { ...found, token: forge.token, signal: abort, userAgent: `octavo/${version}` };
    const { permission, users } = forge.approveByComment;
    const { scope } = reconciliation.source;
    const rules = { organization: id, scope, permission, users, ref: git.ref };
    // A wait before a retry ends when the organization stops.
    const retries: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (milliseconds) => clock.sleep(milliseconds, stopping),
    };
    const reader = openApprovalReader(access, rules, retries);
    return reader && new OrganizationCommentApprovals(context, reconciliation, reader);
  }

  private constructor(context: OrganizationContext, reconciliation: Reconciliation, reader: ApprovalReader) {
    this.#context = context;
    this.#reconciliation = reconciliation;
    this.#reader = reader;
    this.#note = context.store.note(`comment-approvals/${context.organization.id}`);
  }

  /** Listener for what can make a comment count: the comment itself, and a plan that waits. */
  events(): OrganizationEvents {
    return {
      onCommand: () => this.wake(),
      onPassEnd: ({ plan }) => {
        if (heldChecksums(plan, 'any').length > 0) {
          this.wake();
        }
      },
    };
  }

  /** Looks at the comments now. */
  wake(): void {
    this.#wake.notify();
  }

  async start(): Promise<void> {
    this.#working = this.#run();
  }

  async once(): Promise<boolean> {
    const hasLooked = await this.#round();
    // An approval requests a pass.
    await this.#reconciliation.reconciler.idle();
    return hasLooked;
  }

  async stop(): Promise<void> {
    await this.#working;
  }

  async #run(): Promise<void> {
    const { clock, stopping } = this.#context;
    while (!stopping.aborted) {
      const seen = this.#wake.count;
      await this.#round();
      await this.#wake.wait(seen, INTERVAL, clock, stopping);
    }
  }

  /** Judges new comments, and uses those whose plan waits. Returns false if something failed, which is logged. */
  async #round(): Promise<boolean> {
    try {
      await this.#judgeNew();
      await this.#useKept();
      return true;
    } catch (error) {
      if (!this.#context.stopping.aborted) {
        this.#context.log.warn({ reason: messageOf(error) }, 'cannot look at comments that approve plans');
      }
      return false;
    }
  }

  async #judgeNew(): Promise<void> {
    const { store, organization, stopping } = this.#context;
    const announced = await readAnnounced(store, organization.id);
    for (const each of announced) {
      const { judged, kept } = await this.#read();
      const isKnown = judged.includes(each.comment) || kept.some(({ comment }) => comment === each.comment);
      if (!isKnown && !stopping.aborted) {
        await this.#judge(each, announced);
      }
    }
  }

  async #judge(announced: AnnouncedComment, all: readonly AnnouncedComment[]): Promise<void> {
    const { clock } = this.#context;
    const found = await this.#verdictOf(announced, true);
    const { judged, kept } = await this.#read();
    const known = new Set(all.map(({ comment }) => comment));
    const { pull, comment, text } = announced;
    const wasEnough = (checksum: string) =>
      kept.some((one) => one.wasEnough && one.pull === pull && one.checksum === checksum);
    const verdict =
      found.kind === 'approved' && wasEnough(found.checksum)
        ? { kind: 'refused' as const, login: found.login, reasons: [APPROVED_BEFORE] }
        : found;
    const added =
      verdict.kind === 'approved'
        ? [{ pull, comment, text, checksum: verdict.checksum, at: clock.now(), isDone: false, wasEnough: false }]
        : [];
    // Stored first: a comment is answered at most once.
    await this.#write({
      judged: [...judged.filter((id) => known.has(id)), comment],
      kept: [...kept, ...added],
    });
    const isNow = verdict.kind === 'approved' && verdict.isMerged && this.#waits(verdict.checksum);
    if (!isNow) {
      await this.#answer(pull, this.#answerTo(verdict));
    }
  }

  async #useKept(): Promise<void> {
    const { kept } = await this.#read();
    for (const each of kept.filter(({ checksum, isDone }) => !isDone && this.#waits(checksum))) {
      const verdict = await this.#verdictOf(each, false);
      const state = await this.#read();
      const isOpen = verdict.kind === 'approved' && !verdict.isMerged;
      // Meanwhile a pass may have ended, and an earlier comment may have been enough.
      const isLate = state.kept.some(({ comment, isDone }) => comment === each.comment && isDone);
      if (!isOpen && !isLate && this.#waits(each.checksum)) {
        await this.#change(state, (one) => (one.comment === each.comment ? { isDone: true } : {}));
        const answer = verdict.kind === 'approved' ? await this.#approve(each, verdict) : this.#answerTo(verdict);
        await this.#answer(each.pull, answer);
      }
    }
  }

  /** Stores what has become of comments. */
  #change({ judged, kept }: State, changed: (one: KeptComment) => Partial<KeptComment>): Promise<void> {
    return this.#write({ judged, kept: kept.map((one) => ({ ...one, ...changed(one) })) });
  }

  /** Judges a comment. What the forge cannot tell now counts against a new comment; an older one is judged again later. */
  async #verdictOf(comment: AnnouncedComment, isNew: boolean): Promise<CommentVerdict> {
    try {
      return await this.#reader.judge(comment, isNew);
    } catch (error) {
      if (!isNew || this.#context.stopping.aborted) {
        throw error;
      }
      this.#context.log.warn({ pull: comment.pull, reason: messageOf(error) }, 'cannot judge a comment');
      const reason = `${this.#reader.label} does not tell now whether this is allowed; the log of Octavo says why`;
      return { kind: 'refused', login: '', reasons: [reason] };
    }
  }

  /** Approves the plan that waits, with an entry in the audit, and returns the answer. */
  async #approve({ checksum, pull, comment, at }: KeptComment, { login, url }: Approved): Promise<string> {
    const { organization, store, daemon } = this.#context;
    const { reconciler } = this.#reconciliation;
    const { id, approvals } = organization;
    const by: Actor = { name: `${this.#reader.label.toLowerCase()}:${login}`, method: 'comment' };
    const about = { actor: by, action: 'approve', subject: checksum, reason: url ?? `comment ${comment} on ${pull}` };
    let answer = '';
    const work = async () => {
      const decisions = await store.organization(id).decisions();
      if (decisions.some((one) => one.checksum === checksum && one.verdict === 'rejected' && one.at >= at)) {
        throw new RefusedPlanError('the plan was rejected after the comment; write a new one');
      }
      const approval = await reconciler.approve(checksum, by, about.reason);
      if (approval === null) {
        throw new RefusedPlanError('the plan has just changed; review it again');
      }
      const { plan, isComplete } = approval;
      const more = isComplete
        ? ''
        : ` It is applied once ${counted(approvals.count, 'person', 'people')} have approved it.`;
      answer = `Approved by ${codeSpan(login)}: ${codeSpan(approvalSentence(plan, checksum), MAX_SENTENCE)}.${more}`;
      if (isComplete) {
        // What the others have written about it must not approve the same change at another time.
        const isSame = (one: KeptComment) => one.pull === pull && one.checksum === checksum;
        const enough = { isDone: true, wasEnough: true };
        await this.#change(await this.#read(), (one) => (isSame(one) ? enough : {}));
        void reconciler.trigger('approval');
      }
      return {};
    };
    try {
      await carryOut(this.#context, store.history(id), about, work, (entry) => decisionEvents(id, entry));
    } catch (error) {
      if (!(error instanceof RefusedPlanError)) {
        throw error;
      }
      answer = refusal(login, [codeSpan(printable(maskUrls(messageOf(error))), MAX_SENTENCE)]);
    } finally {
      daemon.publish.onStateChange?.(id);
    }
    return answer;
  }

  /** Returns the answer to a comment that has approved nothing yet; null if it gets none. */
  #answerTo(verdict: CommentVerdict): string | null {
    switch (verdict.kind) {
      case 'ignored':
        return null;
      case 'refused':
        return refusal(verdict.login, verdict.reasons);
      default: {
        const { count } = this.#context.organization.approvals;
        const more = count === 1 ? '' : ` ${count} people have to approve it.`;
        const when = verdict.isMerged ? 'as soon as Octavo has the merged commit' : 'once this is merged';
        const what = codeSpan(shortApproval(verdict.checksum));
        return `Approved by ${codeSpan(verdict.login)}: ${what}. It counts ${when}, if the plan is still the same.${more}`;
      }
    }
  }

  /** Answers a comment. An answer that the forge refuses changes nothing about the approval. */
  async #answer(pull: number, body: string | null): Promise<void> {
    if (body !== null) {
      await this.#reader.answer(pull, body).catch((error: unknown) => {
        this.#context.log.warn({ pull, reason: messageOf(error) }, 'cannot answer a comment');
      });
    }
  }

  /** Returns true if a plan with this checksum, or its held part, waits now. One that is being applied keeps its checksum. */
  #waits(checksum: string): boolean {
    const plan = this.#reconciliation.reconciler.lastPlan;
    return plan !== null && heldChanges(plan) > 0 && heldChecksums(plan, 'any').includes(checksum);
  }

  async #read(): Promise<State> {
    return stateSchema.safeParse(await this.#note.read()).data ?? { judged: [], kept: [] };
  }

  async #write({ judged, kept }: State): Promise<void> {
    const oldest = this.#context.clock.now() - KEPT;
    const young = kept.filter(({ at }) => at >= oldest).slice(-MAX_KEPT);
    await this.#note.write({ judged: [...judged], kept: young.map((each) => ({ ...each })) });
  }
}

function refusal(login: string, reasons: readonly string[]): string {
  const who = login === '' ? '' : `, ${codeSpan(printable(login))}`;
  return [`Not approved${who}:`, '', ...reasons.map((reason) => `- ${reason}`)].join('\n');
}
