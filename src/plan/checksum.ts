import { createHash } from 'node:crypto';
import type { Change, Plan } from '../core/change.ts';
import { canonicalJson } from '../core/json.ts';
import { ROOT_SCOPE } from '../core/scope.ts';

/**
 * Returns the checksum of what a plan holds. It is never that of a plan, so that approving what is held does not approve
 * anything else: the rest of the plan may grow, and this stays the same.
 */
export function heldChecksum(organization: string, scope: string, held: readonly Change[]): string {
  return digestOf({ part: 'held', organization, scope, changes: contentOf(held) });
}

/**
 * The checksum of a plan's content: which resources change, and from what to what. The commit and the lines that ask
 * for it take no part, so that the same content has the same checksum wherever it is planned.
 */
export function planChecksum(organization: string, scope: string, changes: readonly Change[]): string {
  return digestOf({ organization, ...(scope === ROOT_SCOPE ? {} : { scope }), changes: contentOf(changes) });
}

/**
 * The checksums that an approval stands for. Approving a plan as a whole also approves what is left of it once the changes
 * that are not held have been applied, which may happen before the approval takes effect.
 */
export function approvalsOf(
  { organization, scope, checksum, changes, verdict }: Plan,
  approved: string,
): readonly string[] {
  if (approved !== checksum || verdict.state === 'held') {
    return [approved];
  }
  const left = changes.filter((change) => change.held !== null);
  return [...new Set([checksum, planChecksum(organization, scope, left)])];
}

function contentOf(changes: readonly Change[]) {
  return changes
    .map(({ action, address, id, fields }) => ({ action, address, id, fields }))
    .toSorted((a, b) => (`${a.address} ${a.action}` < `${b.address} ${b.action}` ? -1 : 1));
}

function digestOf(content: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(content)).digest('hex')}`;
}
