/** Names what waits for approval in a plan, for everything that shows it in one line. */
import type { ChangeDocument, PlanDocument } from '../model/document.ts';
import { counted } from './words.ts';

/** Returns true if a resource is deleted and not replaced. */
export function isDeletion({ action, isReplacement }: Pick<ChangeDocument, 'action' | 'isReplacement'>): boolean {
  return action === 'delete' && !isReplacement;
}

/** `deletes 10 spaces, 1 site`: the deletions that wait for approval; null if there are none. */
export function waitingDeletions({ changes, verdict }: Pick<PlanDocument, 'changes' | 'verdict'>): string | null {
  const waits = changes.filter(
    (change) => isDeletion(change) && change.paused === null && (change.held !== null || verdict.state === 'held'),
  );
  const kinds = [...Map.groupBy(waits, ({ kind }) => kind)].toSorted(([, a], [, b]) => b.length - a.length);
  return kinds.length === 0
    ? null
    : `deletes ${kinds.map(([kind, of]) => counted(of.length, nameOf(kind))).join(', ')}`;
}

function nameOf(kind: string): string {
  const names: Readonly<Record<string, string>> = { openapi: 'OpenAPI specification', saml: 'SAML provider' };
  return names[kind] ?? kind.replaceAll('-', ' ');
}
