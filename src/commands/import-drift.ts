import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { Change } from '../core/change.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../core/errors.ts';
import { type Drift, type DriftedField, settledDrift } from '../import/drift.ts';
import { withFiles } from '../import/overlay.ts';
import { kinds } from '../kinds/registry.ts';
import { openDiskTree } from '../manifests/disk-tree.ts';
import { createManifestLoader } from '../manifests/loader.ts';
import { computePlan } from '../plan/plan.ts';
import { counted, printable, valueWords } from '../plan/words.ts';
import type { Planned } from '../reconcile/planning.ts';
import type { PassInput } from '../reconcile/reconcile.ts';
import { passInput, planOnly } from './planning.ts';
import { chooseOrganization, readConfig, type Surroundings, withPlatform } from './setup.ts';

export interface DriftFlags {
  /** The folder of the manifests. */
  readonly out: string;
  /** Names of kinds; empty: all. */
  readonly kinds: readonly string[];
  readonly base?: string;
  readonly dryRun?: boolean;
  readonly config?: string;
  readonly organization?: string;
}

/** `octavo import --drift`: what was changed behind the manifests' back comes back into them, to be reviewed as a commit. */
export async function importDrift(flags: DriftFlags, around: Surroundings): Promise<ExitCode> {
  const { terminal } = around;
  const { out: folder } = flags;
  const config = await readConfig(flags.config, around);
  const organization = chooseOrganization(config, flags.organization);
  const { input, planned } = await withPlatform(config, organization, around, async (way) => {
    const made = await passInput(folder, flags, config, organization, way.connection, around);
    return { input: made, planned: await planOnly(made, way, terminal) };
  });
  const before = await textsOf(planned.plan.changes, terminal.cwd);
  const drift = await findDrift(flags, { input, planned, before }, terminal.cwd);
  if (flags.dryRun !== true) {
    await writeTexts(drift, before, terminal.cwd);
  }
  terminal.out(drift.fields.map(fieldLine).join(''));
  terminal.err(`${tellDrift(drift)}\n`);
  return EXIT.done;
}

interface Found {
  readonly input: PassInput;
  readonly planned: Planned;
  readonly before: ReadonlyMap<string, string>;
}

async function findDrift(flags: DriftFlags, { input, planned, before }: Found, cwd: string): Promise<Drift> {
  const wanted = new Set(flags.kinds);
  const partOf = (name: string) => kinds.find((kind) => kind.name === name)?.partOf ?? name;
  const { observation, identity, plan } = planned;
  return settledDrift(
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
      const declared = await declaredWith(texts, flags, cwd);
      const cost = () => plan.cost;
      return computePlan({ ...input, declared, observation, cost }).plan.changes;
    },
  );
}

/** What the folder declares once these texts are in it. */
async function declaredWith(texts: ReadonlyMap<string, string>, { out, config }: DriftFlags, cwd: string) {
  const root = resolve(cwd, out);
  const inside = new Map(
    [...texts].map(([path, text]) => [relative(root, resolve(cwd, path)).split(sep).join('/'), text]),
  );
  const { declared } = await createManifestLoader(kinds).load(withFiles(openDiskTree(root), inside), {
    root: relative(cwd, root),
    ...(config === undefined ? {} : { config: relative(root, resolve(cwd, config)) }),
  });
  return declared;
}

/** The manifests that changes come from, by the path that their sources name. */
async function textsOf(changes: readonly Change[], cwd: string): Promise<ReadonlyMap<string, string>> {
  const paths = new Set(changes.flatMap(({ source }) => (source === null ? [] : [source.file])));
  return new Map(
    await Promise.all([...paths].map(async (path) => [path, await readFile(resolve(cwd, path), 'utf8')] as const)),
  );
}

async function writeTexts({ texts }: Drift, before: ReadonlyMap<string, string>, cwd: string): Promise<void> {
  for (const [path, text] of texts) {
    const full = resolve(cwd, path);
    try {
      const read = before.get(path);
      if (read !== undefined && (await readFile(full, 'utf8')) !== read) {
        throw new Error('it has changed since it was read; import again');
      }
      await writeFile(full, text);
    } catch (error) {
      throw new ConfigError(`cannot write ${path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function fieldLine({ file, line, address, field, from, to }: DriftedField): string {
  return `~ ${printable(`${file}:${line}  ${address}  ${field}`)}  ${valueWords(from)} → ${valueWords(to)}\n`;
}

function tellDrift({ fields, left }: Drift): string {
  return [
    ...left.map(({ address, reason }) => `not written: ${printable(`${address}: ${reason}`)}`),
    fields.length === 0 ? 'No drift to write' : `Wrote ${counted(fields.length, 'field')}`,
  ].join('\n');
}
