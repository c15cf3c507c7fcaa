/** Writes and reads plan files, and checks that a plan file still matches the current plan. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Change, changeId, type Plan } from '../../core/change.ts';
import { ConfigError, messageOf, RefusedPlanError } from '../../core/errors.ts';
import { canonicalJson, isObject, type Json } from '../../core/json.ts';
import type { Base, BaseEntry, Declared } from '../../core/resource.ts';
import { planToJson } from '../../plan/render/document.ts';
import type { CommandInput } from './planning.ts';

const FORMAT = 'octavo.plan-file/3';

type SavedPlan = Pick<Plan, 'organization' | 'scope' | 'commit' | 'baseCommit' | 'checksum'>;

/** Everything that `apply` needs to create the same plan again: the declarations and their base. */
export interface PlanFile extends SavedPlan {
  /** Path of the manifest directory inside its repository; null outside of one. */
  readonly directory: string | null;
  readonly declared: ReadonlyMap<string, Declared>;
  readonly base: Base;
  /** The changes that were shown, to report differences. */
  readonly changes: readonly Pick<Change, 'action' | 'address' | 'fields' | 'held' | 'paused'>[];
  readonly verdict: Pick<Plan['verdict'], 'state'>;
  /** Addresses to which the plan is limited; absent in a whole plan. */
  readonly targets: readonly string[] | undefined;
}

/** The parts of a plan file that are read here; the digest protects the rest. */
const shape = z.object({
  plan: z.object({
    organization: z.string(),
    scope: z.string(),
    commit: z.string().nullable(),
    baseCommit: z.string().nullable(),
    checksum: z.string(),
    verdict: z.object({ state: z.string() }),
    changes: z.array(z.object({ action: z.string(), address: z.string(), fields: z.array(z.unknown()) })),
    targets: z.object({ addresses: z.array(z.string()) }).optional(),
  }),
  directory: z.string().nullable(),
  declared: z.array(z.object({ address: z.string(), kind: z.string(), fields: z.record(z.string(), z.unknown()) })),
  base: z.array(z.object({ address: z.string(), kind: z.string() })).nullable(),
});

/** Serializes a plan: the plan as JSON, its input, and a SHA-256 digest of both. */
export function writePlanFile(input: CommandInput, plan: Plan): string {
  const content = {
    plan: planToJson(plan) as Json,
    directory: input.place?.directory ?? null,
    declared: [...input.declared.values()] as unknown as Json,
    base: input.base === null ? null : ([...input.base.values()] as unknown as Json),
  };
  return `${JSON.stringify({ format: FORMAT, sha256: digestOf(content), ...content }, null, 2)}\n`;
}

/** Reads a plan file. Throws ConfigError for any other file, and RefusedPlanError for an altered one. */
export function readPlanFile(text: string, name: string): PlanFile {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${name} is not a plan file: ${messageOf(error)}; create one with octavo plan --out`, {
      cause: error,
    });
  }
  if (!isObject(parsed) || parsed.format !== FORMAT || !isObject(parsed.plan)) {
    throw wrongVersion(name);
  }
  const { sha256, plan = null, directory = null, declared = null, base = null } = parsed as Record<string, Json>;
  if (sha256 !== digestOf({ plan, directory, declared, base })) {
    throw new RefusedPlanError(`${name} was altered after it was created; create a new plan`);
  }
  const checked = shape.safeParse(parsed);
  if (!checked.success) {
    throw wrongVersion(name);
  }
  const { organization, scope, commit, baseCommit, checksum, changes, verdict } = plan as unknown as PlanFile;
  const entries = base as unknown as BaseEntry[] | null;
  return {
    organization,
    scope,
    commit,
    baseCommit,
    checksum,
    changes,
    verdict,
    targets: checked.data.plan.targets?.addresses,
    directory: directory as string | null,
    declared: byAddress(declared as unknown as Declared[]),
    base: entries === null ? null : byAddress(entries),
  };
}

function byAddress<T extends { readonly address: string }>(list: readonly T[]): ReadonlyMap<string, T> {
  return new Map(list.map((each) => [each.address, each]));
}

function wrongVersion(name: string): ConfigError {
  return new ConfigError(
    `${name} is not a plan file of this version (${FORMAT}); create a new one with octavo plan --out`,
  );
}

function digestOf(content: Readonly<Record<'plan' | 'directory' | 'declared' | 'base', Json>>): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/** Limits and approvals that the command line overrides. */
type Overrides = Pick<CommandInput['policy'], 'approved' | 'allowDeletes'>;

/** Returns a line for each difference between the plan of a file and the current plan. */
export function findDifferences(file: PlanFile, now: Plan, overrides: Overrides): readonly string[] {
  const before = new Map(file.changes.map((change) => [changeId(change), change]));
  const after = new Map(now.changes.map((change) => [changeId(change), change]));
  const gone = [...before.keys()].filter((id) => !after.has(id)).map((id) => `no longer needed: ${id}`);
  const added = [...after.keys()].filter((id) => !before.has(id)).map((id) => `newly needed: ${id}`);
  const other = [...after]
    .filter(([id, change]) => {
      const same = before.get(id);
      return same !== undefined && canonicalJson(same.fields) !== canonicalJson(change.fields);
    })
    .map(([id]) => `current values have changed: ${id}`);
  return [
    ...gone,
    ...added,
    ...other,
    ...releasedChanges(before, after, overrides),
    ...releasedPlan(file, now, overrides),
  ];
}

type Shown = PlanFile['changes'][number];

/** Changes that were shown as held or paused and would now be applied, after a window opened or a setting changed. */
function releasedChanges(
  before: ReadonlyMap<string, Shown>,
  after: ReadonlyMap<string, Shown>,
  { approved }: Overrides,
): readonly string[] {
  return [...after].flatMap(([id, { held, paused }]) => {
    const shown = before.get(id);
    if (shown === undefined || held !== null || paused !== null) {
      return [];
    }
    const waited = shown.paused !== null ? 'paused' : shown.held !== null && approved.length === 0 ? 'held' : null;
    return waited === null ? [] : [`no longer ${waited}: ${id}`];
  });
}

function releasedPlan({ verdict }: PlanFile, now: Plan, { approved, allowDeletes }: Overrides): readonly string[] {
  const isOverridden = verdict.state === 'held' && (approved.length > 0 || allowDeletes > 0);
  return verdict.state === 'ready' || now.verdict.state !== 'ready' || isOverridden
    ? []
    : [`the plan is no longer ${verdict.state} as a whole`];
}

/** Writes a file with mode 600. Throws ConfigError. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}
