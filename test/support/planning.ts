/** Plans without a platform. */
import { isObject, type Json } from '../../src/core/json.ts';
import type { Actual, BaseEntry, Declared, Fields, Observation } from '../../src/core/resource.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/plan/guard.ts';
import { computePlan, type PlannedChanges } from '../../src/plan/plan.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { declare, type Manifests, UNLIMITED } from './world.ts';

/** Answers of the platform, for a plan that sends no requests. */
export function actual(kind: string, id: string, fields: Fields, rest: Partial<Actual> = {}): Actual {
  const title = [fields.title, fields.label].find((value) => typeof value === 'string');
  return { kind, id, title: String(title ?? id), fields, within: null, place: null, ...rest };
}

export interface PlanCase {
  readonly manifests: Manifests;
  /** Manifests of the last apply; null: no base. */
  readonly base?: Manifests | null;
  /** Ids recorded for addresses of the base; without them the base is that of a git ref. */
  readonly ids?: Readonly<Record<string, string>>;
  /** Addresses that the record marks as protected. */
  readonly recordedProtection?: readonly string[];
  readonly actuals?: readonly Actual[];
  /** Email to id. */
  readonly people?: Readonly<Record<string, string>>;
  readonly policy?: Partial<Policy>;
  readonly commit?: string;
}

const NOW = Date.parse('2026-06-01T00:00:00Z');
const PEOPLE = { 'ana@acme.example': 'usr_ana', 'bo@acme.example': 'usr_bo', 'cy@acme.example': 'usr_cy' };

/** Plans manifests against a given observation, without a platform. Nothing requires approval unless specified. */
export async function planOf(input: PlanCase): Promise<PlannedChanges> {
  const declared = await declare(input.manifests);
  return computePlan({
    organization: 'org_1',
    commit: input.commit ?? null,
    baseCommit: null,
    kinds,
    declared,
    base: await baseOf(input),
    observation: observationOf(input.actuals ?? [], input.people ?? PEOPLE, declared),
    policy: { ...DEFAULT_POLICY, ...UNLIMITED, now: NOW, ...input.policy },
    cost: () => ({ requests: { reads: 2, writes: 3 }, seconds: 1.5 }),
  });
}

async function baseOf(input: PlanCase) {
  if (input.base === undefined || input.base === null) {
    return null;
  }
  const base = new Map<string, BaseEntry>();
  for (const [address, entry] of baseOfManifests(kinds, await declare(input.base)) ?? []) {
    const protect = entry.protect || input.recordedProtection?.includes(address) === true;
    base.set(address, { ...entry, id: input.ids?.[address] ?? null, protect });
  }
  return base;
}

function observationOf(
  actuals: readonly Actual[],
  people: Readonly<Record<string, string>>,
  declared: ReadonlyMap<string, Declared>,
): Observation {
  const found = new Map<string, Actual[]>(kinds.map((kind) => [kind.name, []]));
  for (const each of actuals) {
    found.get(each.kind)?.push(each);
  }
  if (found.get('organization')?.length === 0 && declared.has('organization')) {
    found.set('organization', [actual('organization', 'org_1', { title: 'Acme', sso: false })]);
  }
  return { kinds: found, people: new Map(Object.entries(people)) };
}

/** Short description of changes: `update team/writers title`. */
export function short({ plan }: PlannedChanges): string[] {
  return plan.changes.map(({ action, address, fields, held, paused, isReplacement }) => {
    const marks = [isReplacement ? 'replaces' : '', held === null ? '' : 'held', paused === null ? '' : 'paused'];
    const names = action === 'update' || action === 'move' ? fields.map((field) => field.path) : [];
    return [action, address, ...names, ...marks.filter((mark) => mark !== '')].join(' ');
  });
}

/** Old and new value of a field in a change. */
export function change({ plan }: PlannedChanges, address: string, path: string): Json | undefined {
  const field = plan.changes.find((each) => each.address === address)?.fields.find((each) => each.path === path);
  return isObject(field) ? [field.from ?? null, field.to ?? null] : undefined;
}
