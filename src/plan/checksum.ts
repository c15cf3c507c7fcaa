import { createHash } from 'node:crypto';
import type { Change } from '../core/change.ts';
import { canonicalJson, type Json } from '../core/json.ts';
import { ROOT_SCOPE } from '../core/scope.ts';

/**
 * The checksum of a plan's content: which resources change, and from what to what. The commit and the lines that ask
 * for it take no part, so that the same content has the same checksum wherever it is planned.
 */
export function planChecksum(organization: string, scope: string, changes: readonly Change[]): string {
  const content = changes
    .map(({ action, address, id, fields }) => ({ action, address, id, fields: fields as unknown as Json }))
    .toSorted((a, b) => (`${a.address} ${a.action}` < `${b.address} ${b.action}` ? -1 : 1));
  const digest = createHash('sha256')
    .update(canonicalJson({ organization, ...(scope === ROOT_SCOPE ? {} : { scope }), changes: content }))
    .digest('hex');
  return `sha256:${digest}`;
}
