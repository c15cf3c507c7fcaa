import { createHash } from 'node:crypto';
import type { Change, Plan } from '../core/change.ts';
import { canonicalJson } from '../core/json.ts';
import { ROOT_SCOPE } from '../core/scope.ts';

/**
 * Returns the checksum of the held changes of a plan. It never equals the checksum of a plan, so approving the held
 * changes approves nothing else: it stays the same when the rest of the plan grows.
 */
export function heldChecksum(organization: string, scope: string, held: readonly Change[]): string {
  return digestOf({ part: 'held', organization, scope, changes: contentOf(held) });
}

/**
 * Returns the checksum of a plan's content: which resources change, from which to which values. Commits and positions
 * in files are not part of it, so the same content has the same checksum wherever it is planned.
 */
export function planChecksum(organization: string, scope: string, changes: readonly Change[]): string {
  return digestOf({ organization, ...(scope === ROOT_SCOPE ? {} : { scope }), changes: contentOf(changes) });
}

/**
 * Returns the checksums that an approval covers. Approving a whole plan also approves the rest of it after the changes
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
