/** Options of reconcilers in tests: a source without commits, no pauses, and nobody who wrote anything. */
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { PlanAuthors } from '../../src/reconcile/approvals.ts';
import type { DesiredSource } from '../../src/reconcile/source.ts';
import type { Store } from '../../src/store/store.ts';
import { memoryTree } from '../support/memory-tree.ts';

/** Source whose manifest `read` returns. It never moves. */
export function sourceOf(read: () => string): DesiredSource {
  const loader = createManifestLoader(kinds);
  return {
    read: async () => {
      const state = await loader.load(memoryTree({ 'octavo.yaml': read() }));
      return { state, commit: null, subject: '', author: null, forced: false };
    },
    peek: async () => {
      throw new Error('nobody peeks here');
    },
    head: null,
    hasMoved: async () => false,
    authors: async () => null,
    watch: async () => undefined,
    scope: '.',
    applied: null,
    poll: null,
    close: async () => undefined,
  };
}

/** Options of the reconciler of an organization, whose state is in `store`. */
export function reconcilerOptions(id: string, store: Store, signal: AbortSignal) {
  return {
    user: null,
    kinds,
    record: store.organization(id),
    pauses: { pauses: async () => [] },
    reverts: store.note(`flapping/${id}`),
    planAuthors: new PlanAuthors(store.note('applied'), { applied: null, authors: async () => null }),
    estimate: () => 0,
    signal,
    abort: signal,
  };
}
