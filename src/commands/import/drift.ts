import { readFile, writeFile } from 'node:fs/promises';
import { posix, relative, resolve } from 'node:path';
import type { Change, Plan } from '../../core/change.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import { type Drift, type DriftedField, type DriftedPlace, resolveDrift } from '../../import/drift.ts';
import { withFiles } from '../../import/import.ts';
import { kinds } from '../../kinds/registry.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { computePlan } from '../../plan/plan.ts';
import { differingTexts } from '../../plan/render/field-text.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { chooseOrganization, readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { type LoadedFolder, loadFolder, NO_BASE, openFolder } from '../plan/desired.ts';
import { planAgainstPlatform, planningInput } from '../plan/planning.ts';

export interface DriftFlags {
  /** The manifest folder. */
  readonly out: string;
  /** Kinds to include; all if empty. */
  readonly kinds: readonly string[];
  readonly base?: string;
  readonly scope?: string;
  readonly dryRun?: boolean;
  readonly config?: string;
  readonly organization?: string;
}

/** The manifests that drift is written into. */
export interface DriftTarget {
  readonly tree: FileTree;
  /** Path of the folder as it appears in problems and sources. */
  readonly root: string;
  readonly loaded: LoadedFolder;
}

/** Drift from the manifests of a folder. */
export interface FoundDrift {
  readonly plan: Plan;
  readonly drift: Drift;
  /** Original text of the manifests by path. */
  readonly before: ReadonlyMap<string, string>;
}

/** Runs `octavo import --drift`: writes changes that were made on the platform into the manifests, for review. */
export async function importDrift(flags: DriftFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const folder = resolve(terminal.cwd, flags.out);
  const loaded = await loadFolder(terminal.cwd, flags.out, flags.config);
  const place = { tree: openFolder(folder), root: relative(terminal.cwd, folder), loaded };
  const { drift, before } = await findDrift(place, flags, context);
  if (flags.dryRun !== true) {
    await writeTexts(drift, before, terminal.cwd);
  }
  terminal.out([...drift.fields.map(fieldLine), ...drift.places.map(placeLine)].join(''));
  terminal.err(`${summaryText(drift)}\n`);
  return EXIT.done;
}

/** Plans the manifests and computes the edits that make them match the platform. */
export async function findDrift(place: DriftTarget, flags: DriftFlags, context: CommandContext): Promise<FoundDrift> {
  const config = await readConfig(flags.config, context, flags.out);
  const organization = chooseOrganization(config, flags.organization);
  const { input, planned } = await withPlatform(config, organization, context, async (session) => {
    const { queue } = session.connection;
    const target = { folder: flags.out, config, organization, queue, loaded: place.loaded };
    // By default, drift is compared with the platform alone.
    const made = await planningInput(target, { ...flags, base: flags.base ?? NO_BASE }, context);
    return { input: made, planned: await planAgainstPlatform(made, session, context.terminal) };
  });
  const { observation, identity, plan } = planned;
  const before = await textsOf(plan.changes, place);
  const wanted = new Set(flags.kinds);
  const partOf = (name: string) => kinds.find((kind) => kind.name === name)?.partOf ?? name;
  const drift = await resolveDrift(
    {
      kinds,
      changes: plan.changes.filter(({ kind }) => wanted.size === 0 || wanted.has(partOf(kind))),
      declared: input.declared,
      bound: identity.bound,
      base: input.base,
      observation,
      manifests: before,
    },
    async (texts) => {
      const declared = await declaredWith(texts, place, flags, context);
      const cost = () => plan.cost;
      return computePlan({ ...input, declared, observation, cost }).plan.changes;
    },
  );
  return { plan, drift, before };
}

/** Converts a path of a source to a path inside the tree. */
export function pathInTree(root: string, path: string): string {
  return root === '' ? path : posix.relative(root, path);
}

/** Loads the declarations of the folder with edited texts. */
async function declaredWith(
  texts: ReadonlyMap<string, string>,
  { tree, root }: DriftTarget,
  { out, config }: DriftFlags,
  { terminal }: CommandContext,
) {
  const folder = resolve(terminal.cwd, out);
  const inside = new Map([...texts].map(([path, text]) => [pathInTree(root, path), text]));
  const { declared } = await createManifestLoader(kinds).load(withFiles(tree, inside), {
    root,
    ...(config === undefined ? {} : { config: relative(folder, resolve(terminal.cwd, config)) }),
  });
  return declared;
}

/** Reads the manifests of the changed resources, by path. */
async function textsOf(changes: readonly Change[], { tree, root }: DriftTarget): Promise<ReadonlyMap<string, string>> {
  const paths = new Set(changes.flatMap(({ source }) => (source === null ? [] : [source.file])));
  const read = async (path: string) => Buffer.from(await tree.read(pathInTree(root, path))).toString('utf8');
  return new Map(await Promise.all([...paths].map(async (path) => [path, await read(path)] as const)));
}

async function writeTexts({ texts }: Drift, before: ReadonlyMap<string, string>, cwd: string): Promise<void> {
  const disk = (path: string) => resolve(cwd, path);
  for (const [path, text] of texts) {
    try {
      const read = before.get(path);
      if (read !== undefined && (await readFile(disk(path), 'utf8')) !== read) {
        throw new Error('the file has changed since it was read; run import again');
      }
      await writeFile(disk(path), text);
    } catch (error) {
      throw new ConfigError(`cannot write ${path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function fieldLine({ file, line, address, field, from, to }: DriftedField): string {
  return `~ ${printable(`${file}:${line}  ${address}  ${field}`)}  ${differingTexts(from, to, false).join(' → ')}\n`;
}

function placeLine({ action, file, line, address }: DriftedPlace): string {
  return `${action === 'delete' ? '-' : '→'} ${printable(`${file}:${line}  ${address}`)}\n`;
}

function summaryText({ fields, places, omitted }: Drift): string {
  const gone = places.filter(({ action }) => action === 'delete').length;
  const moved = places.length - gone;
  const done = [
    ...(fields.length > 0 ? [`wrote ${counted(fields.length, 'field')}`] : []),
    ...(gone > 0 ? [`removed ${counted(gone, 'resource')}`] : []),
    ...(moved > 0 ? [`moved ${counted(moved, 'resource')}`] : []),
  ].join(', ');
  return [
    ...omitted.map(({ address, reason }) => `not written: ${printable(`${address}: ${reason}`)}`),
    done === '' ? 'No drift to write' : `${done[0]?.toUpperCase()}${done.slice(1)}`,
  ].join('\n');
}
