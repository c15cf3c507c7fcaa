/** Order of the changes of a plan, as people read them on pages and in comments. */
import type { ChangeDocument, PlanDocument } from './document.ts';
import { rankChanges } from './text.ts';

/** Effects of changes, in the order in which people read them. */
const EFFECTS = ['deleted', 'access', 'created', 'updated', 'moved'] as const;
export type Effect = (typeof EFFECTS)[number];

const EFFECT_OF_ACTION = { delete: 'deleted', create: 'created', update: 'updated', move: 'moved' } as const;

type Ordered = readonly { readonly change: ChangeDocument; readonly effect: Effect; readonly rank: number }[];
/** Changes of the plans that are shown, by effect and kind: sorting 100,000 takes longer than a page may take. */
const ordered = new WeakMap<PlanDocument, Ordered>();

/** Sorts the changes of a plan by effect, then by kind; of a kind, the riskiest come first. */
export function orderByEffect(plan: PlanDocument): Ordered {
  const known = ordered.get(plan);
  if (known !== undefined) {
    return known;
  }
  const affectsAccess = new Set(plan.access.map(({ change }) => change));
  const changes = rankChanges(plan).map(({ change, rank }) => {
    const isAccess = change.action !== 'delete' && change.action !== 'create' && affectsAccess.has(change.address);
    return { change, effect: isAccess ? ('access' as const) : EFFECT_OF_ACTION[change.action], rank };
  });
  const kinds = new Map([...new Set(changes.map(({ change }) => change.kind))].map((kind, index) => [kind, index]));
  const place = ({ change, effect }: Ordered[number]) =>
    EFFECTS.indexOf(effect) * kinds.size + (kinds.get(change.kind) ?? 0);
  const sorted = changes.toSorted((a, b) => place(a) - place(b));
  ordered.set(plan, sorted);
  return sorted;
}
