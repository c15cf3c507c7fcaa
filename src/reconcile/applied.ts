/** Reads and writes what a repository records as applied: the base of a scope with its ids, and the claims of other scopes. */
import { posix } from 'node:path';
import { z } from 'zod';
import { type Address, kindOf } from '../core/address.ts';
import { ConfigError, DesiredStateError, problemOfFile } from '../core/errors.ts';
import { append, compareText } from '../core/lists.ts';
import type { BaseEntry } from '../core/resource.ts';
import { ROOT_SCOPE } from '../core/scope.ts';
import { isAncestor, isShallow } from '../git/commits.ts';
import { readTreeAt } from '../git/objects.ts';
import { type AppliedRefs, appliedRef } from '../git/refs.ts';
import { kinds } from '../kinds/registry.ts';
import { createManifestLoader } from '../manifests/loader.ts';
import { type Claim, OtherScopes } from '../plan/identity.ts';
import { baseOfManifests } from './record.ts';

/** The manifest directory that is planned or applied, and its scope. */
export interface ScopedDirectory {
  readonly organization: string;
  readonly scope: string;
  /** Path inside the repository; `.` is the root. */
  readonly directory: string;
  /** Path of the repository on disk. */
  readonly repository: string;
}

/** Base of a scope, as it was last applied. */
export interface AppliedBase {
  readonly base: ReadonlyMap<Address, BaseEntry>;
  readonly commit: string;
}

/**
 * Reads the base that a scope last applied; null if none was recorded. A ref in the earlier format, which has no
 * scopes, gives a base without ids. Throws DesiredStateError for a damaged record, and SourceError.
 */
export async function readAppliedBase(
  refs: AppliedRefs,
  place: ScopedDirectory,
  head: string | null,
): Promise<AppliedBase | null> {
  const found = await readOwn(refs, place.organization, place.scope);
  if (found === null) {
    return null;
  }
  if (found.record !== null) {
    await requireOwnDirectory(place, found.record, head);
  }
  return baseOf(found, place);
}

/** Returns true if an applied commit is recorded for a scope. */
export async function hasApplied(refs: AppliedRefs, { organization, scope }: ScopedDirectory): Promise<boolean> {
  return (await readOwn(refs, organization, scope)) !== null;
}

/** Reads the base that a ref records, given the full name of the ref. */
export async function readRecordedBase(
  refs: AppliedRefs,
  place: ScopedDirectory,
  { tip, ref }: { readonly tip: string; readonly ref: string },
): Promise<AppliedBase> {
  return baseOf(await readRef(refs, tip, ref, place.organization), place);
}

async function baseOf({ commit, record }: Read, place: ScopedDirectory): Promise<AppliedBase> {
  const base = await baseAt(place.repository, commit, record?.directory ?? place.directory);
  return { base: record === null ? base : withIds(base, record.ids), commit };
}

/**
 * Checks that two directories do not share a scope, because each would delete the resources of the other. A scope may
 * move to another directory.
 */
async function requireOwnDirectory(
  { repository, scope, directory }: ScopedDirectory,
  record: AppliedCommit,
  head: string | null,
): Promise<void> {
  if (record.directory === directory || head === null || !(await isInHistory(repository, record.commit, head))) {
    return;
  }
  const [first] = (await placesIn(repository, head, record.directory)).values();
  if (first !== undefined) {
    throw new ConfigError(
      `scope ${JSON.stringify(scope)} was last applied from ${record.directory}, which still declares resources (${first}); ` +
        `give ${directory} a scope of its own with --scope`,
    );
  }
}

interface Read {
  readonly commit: string;
  readonly record: AppliedCommit | null;
}

async function readOwn(refs: AppliedRefs, organization: string, scope: string): Promise<Read | null> {
  const tip = refs.tipOf(scope);
  if (tip !== null) {
    const ref = appliedRef(organization, scope);
    const read = await readRef(refs, tip, ref, organization);
    if (read.record !== null && read.record.scope !== scope) {
      throw new ConfigError(
        `${ref} records the scope ${JSON.stringify(read.record.scope)}, not ${JSON.stringify(scope)}`,
      );
    }
    return read;
  }
  // The ref that all directories of the organization shared in earlier versions.
  const former = scope === ROOT_SCOPE ? null : refs.tipOf(ROOT_SCOPE);
  const read = former === null ? null : await readRef(refs, former, appliedRef(organization), organization);
  return read?.record === null ? read : null;
}

async function readRef(refs: AppliedRefs, tip: string, ref: string, organization: string): Promise<Read> {
  const { commit, record } = await refs.read(tip, ref);
  return { commit, record: record === null ? null : readAppliedRecord(record, ref, { organization, commit }) };
}

/**
 * Adds the recorded ids to the base. It was recorded after a complete apply, so it contains no unfinished replacements.
 */
export function withIds(
  base: ReadonlyMap<Address, BaseEntry>,
  ids: ReadonlyMap<Address, string>,
): ReadonlyMap<Address, BaseEntry> {
  return new Map(
    [...base].map(([address, entry]) => [address, { ...entry, id: ids.get(address) ?? entry.id, isComplete: true }]),
  );
}

/**
 * Reads what the other scopes of the organization claim. If the last applied commit of a scope is in the history of
 * `head`, its manifests are read from `head`, because they may have changed since; otherwise from the applied commit.
 * Throws ConfigError if the same directory is recorded under another scope, DesiredStateError for a damaged record, and SourceError.
 */
export async function readOtherScopes(
  refs: AppliedRefs,
  place: ScopedDirectory,
  head: string | null,
): Promise<OtherScopes> {
  const claims: Claim[] = [];
  for (const [ref, tip] of refs.others(place.scope)) {
    const { commit, record } = await readRef(refs, tip, ref, place.organization);
    if (record !== null) {
      const isHere = head !== null && (await isInHistory(place.repository, commit, head));
      if (isHere && record.directory === place.directory) {
        throw sameDirectory(place, record, ref);
      }
      append(claims, await claimsOf(record, place.repository, isHere ? head : commit));
    }
  }
  return new OtherScopes(claims);
}

/** Returns true if a commit is in the history of another; assumed in a shallow clone. */
async function isInHistory(repository: string, commit: string, head: string): Promise<boolean> {
  return (await isAncestor(repository, commit, head)) || (await isShallow(repository));
}

async function claimsOf(
  { scope, directory, ids }: AppliedCommit,
  repository: string,
  commit: string,
): Promise<readonly Claim[]> {
  const places = await placesIn(repository, commit, directory);
  const claim = (address: Address): Claim => ({
    address,
    kind: kindOf(address),
    scope,
    id: ids.get(address) ?? null,
    place: places.get(address) ?? null,
  });
  return [...new Set([...places.keys(), ...ids.keys()])].map(claim);
}

/** Returns the position of each declaration in a directory of a commit, as `file:line`. */
async function placesIn(repository: string, commit: string, folder: string): Promise<ReadonlyMap<Address, string>> {
  const tree = await readTreeAt(repository, commit, folder);
  const loader = createManifestLoader(kinds);
  const root = folder === '.' ? '' : folder;
  try {
    const { declared } = await loader.load(tree, { root });
    return new Map([...declared.values()].map(({ address, source }) => [address, `${source.file}:${source.line}`]));
  } catch (error) {
    if (!(error instanceof DesiredStateError)) {
      throw error;
    }
    // Problems in another directory are not reported here; its valid declarations still count.
    const addresses = await loader.survey(tree, { root });
    return new Map(addresses.map((address) => [address, posix.join(root, '…')]));
  }
}

function sameDirectory({ directory, scope }: ScopedDirectory, record: AppliedCommit, ref: string): ConfigError {
  const names = `${JSON.stringify(record.scope)} and not ${JSON.stringify(scope)}`;
  return new ConfigError(
    `${directory} was last applied as scope ${names}; use --scope ${record.scope}, or delete ${ref} to start a new scope`,
  );
}

/**
 * Records the applied commit of a scope: moves its ref to a commit on top of it. Does nothing if it is already
 * recorded. Throws SourceError if somebody else has moved the ref since it was read.
 */
export async function recordApplied(
  refs: AppliedRefs,
  record: AppliedCommit,
): Promise<{ readonly ref: string; readonly pushed: boolean }> {
  const { organization, scope, commit } = record;
  const ref = appliedRef(organization, scope);
  const text = writeAppliedRecord(record);
  const before = refs.tipOf(scope);
  const known = before === null ? null : await refs.read(before, ref).catch(() => null);
  if (known?.record === text && known.commit === commit) {
    return { ref, pushed: false };
  }
  const tip = await refs.write(commit, text, `Record ${commit.slice(0, 12)} as applied\n`);
  return { ref, ...(await refs.move(scope, tip)) };
}

/** Returns the ids of all declared resources that exist. */
export function idsOf(
  declared: ReadonlyMap<Address, unknown>,
  bindings: ReadonlyMap<Address, string>,
): ReadonlyMap<Address, string> {
  return new Map(
    [...declared.keys()].flatMap((address) => {
      const id = bindings.get(address);
      return id === undefined ? [] : [[address, id] as const];
    }),
  );
}

const FORMAT = 'octavo.applied/2';

/** Maximum number of resources in a record. */
const MAX_RESOURCES = 1_000_000;

/** Record of what was applied, in an applied ref. */
interface AppliedCommit extends Omit<ScopedDirectory, 'repository'> {
  /** The full id of the commit. */
  readonly commit: string;
  /** The ids of the resources that the commit declares, by address. */
  readonly ids: ReadonlyMap<Address, string>;
}

const shape = z.strictObject({
  format: z.literal(FORMAT),
  organization: z.string(),
  scope: z.string(),
  directory: z.string().refine(isInside, { error: 'is not a directory inside the repository' }),
  commit: z.string(),
  ids: z.record(
    z.string().regex(/^[a-z][a-z-]{0,63}(?:\/[^\p{Cc}\p{Zl}\p{Zp}]{1,2000})?$/u),
    z.string().regex(/^[\x21-\x7e]{1,256}$/),
  ),
});

/** Writes a record as text; the same record is always the same text. */
function writeAppliedRecord({ organization, scope, directory, commit, ids }: AppliedCommit): string {
  const sorted = Object.fromEntries([...ids].sort(([a], [b]) => compareText(a, b)));
  return `${JSON.stringify({ format: FORMAT, organization, scope, directory, commit, ids: sorted }, null, 1)}\n`;
}

/**
 * Reads the record of a ref. `expected` is what the record must contain: anybody with push access can write anything to
 * a ref. Throws DesiredStateError, which describes how to repair the ref.
 */
function readAppliedRecord(
  text: string,
  ref: string,
  expected: { readonly organization: string; readonly commit: string },
): AppliedCommit {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw damaged(ref, 'it is not JSON', error);
  }
  const result = shape.safeParse(parsed);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw damaged(ref, `${issue?.path.slice(0, 1).join('.') || 'it'}: ${issue?.message ?? 'is not as expected'}`);
  }
  const { organization, scope, directory, commit, ids } = result.data;
  if (organization !== expected.organization) {
    throw damaged(ref, 'it belongs to another organization');
  }
  if (commit !== expected.commit) {
    throw damaged(ref, 'the commit that it names is not its parent');
  }
  const known = Object.entries(ids);
  if (known.length > MAX_RESOURCES) {
    throw damaged(ref, `it has more than ${MAX_RESOURCES} resources`);
  }
  const owners = new Map<string, Address>();
  for (const [address, id] of known) {
    const key = `${kindOf(address)} ${id}`;
    const other = owners.get(key);
    if (other !== undefined) {
      throw damaged(ref, `${other} and ${address} have the same id`);
    }
    owners.set(key, address);
  }
  return { organization, scope, directory, commit, ids: new Map(known) };
}

/** Returns true if a text is a normalized path of a directory inside a repository. */
function isInside(path: string): boolean {
  return path === '.' || !path.split('/').some((part) => ['', '.', '..', '.git'].includes(part.toLowerCase()));
}

/** Creates the error for a damaged ref, with the ways to repair it. */
function damaged(ref: string, why: string, cause?: unknown): DesiredStateError {
  const message =
    `is damaged: ${why}; point it to a commit that was applied (git push --force origin COMMIT:${ref}), ` +
    'or delete it and apply again with --base none';
  return new DesiredStateError([problemOfFile(ref, message)], [], { cause });
}

/**
 * Returns the base that the manifests of a commit declare. `folder`: their directory inside the repository. A commit
 * without manifests, such as the first one of a repository, owns nothing. Throws DesiredStateError, and SourceError if
 * the commit does not exist.
 */
export async function baseAt(
  repository: string,
  commit: string,
  folder: string,
): Promise<ReadonlyMap<Address, BaseEntry>> {
  const tree = await readTreeAt(repository, commit, folder);
  const files = await tree.list();
  if (!files.some((file) => /\.ya?ml$/.test(file.path))) {
    return new Map();
  }
  const { declared } = await createManifestLoader(kinds)
    .load(tree)
    .catch((error: unknown) => {
      throw error instanceof DesiredStateError ? inBase(error, commit, folder) : error;
    });
  return baseOfManifests(kinds, declared) ?? new Map();
}

/**
 * Adds a note to problems in the base: current rules may differ from those at the time of the base. Files are named as
 * git names them.
 */
function inBase({ problems }: DesiredStateError, commit: string, folder: string): DesiredStateError {
  const short = commit.slice(0, 7);
  return new DesiredStateError(
    problems.map((problem) => ({
      ...problem,
      file: `${short}:${posix.join(folder, problem.file)}`,
      message: `${problem.message} (in the base, checked against the current rules; choose another base with --base, or none)`,
    })),
  );
}
