/** Record in an applied ref: the commit that was applied, its manifest directory, and the ids of its resources. */
import { z } from 'zod';
import { type Address, kindOf } from '../core/address.ts';
import { DesiredStateError } from '../core/errors.ts';

const FORMAT = 'octavo.applied/2';
/** Maximum number of resources in a record. */
const MAX_RESOURCES = 1_000_000;

/** Record of what was applied, in an applied ref. */
export interface AppliedCommit {
  readonly organization: string;
  readonly scope: string;
  /** Path of the manifest directory inside its repository; `.` is the root. */
  readonly directory: string;
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
export function writeAppliedRecord({ organization, scope, directory, commit, ids }: AppliedCommit): string {
  const sorted = Object.fromEntries([...ids].sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ format: FORMAT, organization, scope, directory, commit, ids: sorted }, null, 1)}\n`;
}

/**
 * Reads the record of a ref. `expected` is what the record must contain: anybody with push access can write anything to
 * a ref. Throws DesiredStateError, which describes how to repair the ref.
 */
export function readAppliedRecord(
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
  return new DesiredStateError([{ file: ref, line: 1, column: 1, address: '', message }], [], { cause });
}
