/** Approvals by name: the checksum of a plan, that of the held part of it, or at least eight digits that either begins with. */
import { RefusedPlanError } from '../core/errors.ts';
import { quote } from '../core/text/suggest.ts';
import { heldChecksums } from './guard.ts';
import type { PlanDocument } from './render/document.ts';
import { shortApproval } from './render/words.ts';

/** A checksum that can be approved, and what that covers, in words. */
export interface ApprovalChoice {
  readonly checksum: string;
  readonly what: string;
}

/** Digits of a checksum that are enough to name it. More plans than one person makes have different ones. */
const NAME = /^[0-9a-f]{8,64}$/;

/** Returns what can be approved in a plan: what is held, and the whole plan. Empty if nothing is held. */
export function approvalChoices(plan: PlanDocument | null): readonly ApprovalChoice[] {
  return heldChecksums(plan, 'any').map((checksum) => ({ checksum, what: approvedPart(checksum, plan) }));
}

/** Returns what an apply of this plan can be approved with: also the whole of a plan in which nothing is held. */
export function planChoices({ checksum, heldChecksum }: PlanDocument): readonly ApprovalChoice[] {
  const held = heldChecksum === null ? [] : [{ checksum: heldChecksum, what: 'only what is held' }];
  return [...held, { checksum, what: 'the whole plan' }];
}

/** `only what is held`, or `the whole plan`. */
export function approvedPart(checksum: string, plan: Pick<PlanDocument, 'heldChecksum'> | null): string {
  return checksum === plan?.heldChecksum ? 'only what is held' : 'the whole plan';
}

/** Returns the choices that a person can mean. Only a whole checksum says that the plan is the one that they saw. */
export function meantApprovals<T extends Pick<ApprovalChoice, 'checksum'>>(
  typed: string,
  choices: readonly T[],
): readonly T[] {
  const digits = digitsOf(typed);
  return choices.filter(
    ({ checksum }) => checksum === typed || (NAME.test(digits) && digitsOf(checksum).startsWith(digits)),
  );
}

/** Returns the one choice that a person means. Throws RefusedPlanError, which names the choices. */
export function chosenApproval<T extends ApprovalChoice>(typed: string, choices: readonly T[]): T {
  const [meant, other] = meantApprovals(typed, choices);
  if (meant !== undefined && other === undefined) {
    return meant;
  }
  const named = choices.map(
    ({ checksum, what }) => `${other === undefined ? shortApproval(checksum) : checksum} (${what})`,
  );
  const now = choices.length === 0 ? 'nothing is held now' : `choose from ${named.join(', ')}`;
  throw new RefusedPlanError(`${problemOf(typed, other !== undefined)}; ${now}`);
}

function problemOf(typed: string, isAmbiguous: boolean): string {
  if (isAmbiguous) {
    return `${typed} fits more than one checksum; type more of its digits`;
  }
  return /^[0-9a-f]{0,7}$/.test(digitsOf(typed))
    ? `${quote(typed)} is too short; type at least 8 digits of the checksum`
    : `no plan has the checksum ${quote(typed)} now; review the plan again`;
}

function digitsOf(checksum: string): string {
  return checksum.toLowerCase().replace(/^sha256:/, '');
}
