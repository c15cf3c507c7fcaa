import { createHash } from 'node:crypto';
import type { FieldChange } from '../core/change.ts';
import { canonicalJson } from '../core/json.ts';
import { ROOT_SCOPE } from '../core/scope.ts';
import type { ChangeDocument, PlanDocument } from './model/document.ts';

/**
 * Returns the checksum of the held changes of a plan. It never equals the checksum of a plan, so approving the held
 * changes approves nothing else: it stays the same when the rest of the plan grows.
 */
export function heldChecksum(organization: string, scope: string, held: readonly ChangeDocument[]): string {
  return digestOf({ changes: contentOf(held), organization, part: 'held', scope });
}

/**
 * Returns the checksum of a plan's content: which resources change, from which to which values. Commits and positions
 * in files are not part of it, so the same content has the same checksum wherever it is planned.
 */
export function planChecksum(organization: string, scope: string, changes: readonly ChangeDocument[]): string {
  return digestOf({ changes: contentOf(changes), organization, ...(scope === ROOT_SCOPE ? {} : { scope }) });
}

/**
 * Returns the checksums that an approval covers. Approving a whole plan also approves the rest of it after the changes
 * that are not held have been applied, which may happen before the approval takes effect.
 */
export function approvalsOf(
  { organization, scope, checksum, changes, verdict }: PlanDocument,
  approved: string,
): readonly string[] {
  if (approved !== checksum || verdict.state === 'held') {
    return [approved];
  }
  const left = changes.filter((change) => change.held !== null);
  return [...new Set([checksum, planChecksum(organization, scope, left)])];
}

/** Members are in alphabetical order, which canonical JSON formats fastest. */
function contentOf(changes: readonly ChangeDocument[]) {
  return changes
    .map(({ action, address, fields, id }) => ({ action, address, fields: fields.map(sortedField), id }))
    .toSorted((a, b) => compare(a.address, b.address) || compare(a.action, b.action));
}

function sortedField({ from, path, to }: FieldChange): FieldChange {
  return from === undefined ? { path, to } : { from, path, to };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function digestOf(content: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(content)).digest('hex')}`;
}
