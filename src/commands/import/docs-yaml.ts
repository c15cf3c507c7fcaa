/** Converts between manifests and the `docs.yaml` of Git Sync, for `octavo import`. See docs/git-sync.md. */
import { resolve } from 'node:path';
import { type Address, addressOf } from '../../core/address.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/disk.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import type { Declared, Observation } from '../../core/resource.ts';
import { type Converted, fromDocsYaml, toDocsYaml } from '../../import/docs-yaml.ts';
import { importManifests, withFiles } from '../../import/import.ts';
import { kinds } from '../../kinds/registry.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { printable, printableLines } from '../../plan/render/words.ts';
import type { CommandContext } from '../cli/context.ts';

/** Bytes of the largest `docs.yaml` that is read. */
const MAX_BYTES = 1_048_576;

/** A folder without files. */
export const NO_FILES: FileTree = {
  label: 'nothing',
  list: async () => [],
  read: () => Promise.reject(new ConfigError('no file to read')),
  resolve: () => Promise.reject(new ConfigError('no file to read')),
  checkNamed: () => Promise.reject(new ConfigError('no file to read')),
};

/** Reads a `docs.yaml`, and prints the manifest with its site. Throws ConfigError and DesiredStateError. */
export async function printManifest(file: string, context: CommandContext): Promise<ExitCode> {
  let text: string;
  try {
    text = readRegularFile(resolve(context.terminal.cwd, file), { limit: MAX_BYTES }).toString('utf8');
  } catch (error) {
    throw new ConfigError(`--from-docs-yaml ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const manifest = fromDocsYaml(text, file);
  await declaredIn(new Map([['octavo.yaml', manifest.text]]));
  return print(manifest, context);
}

/** Prints the `docs.yaml` of a declared site. Throws ConfigError if the file cannot hold its structure. */
export function printDeclared(
  declared: ReadonlyMap<Address, Declared>,
  key: string,
  context: CommandContext,
): ExitCode {
  return print(toDocsYaml(declared, addressOf('site', key)), context);
}

/** Prints the `docs.yaml` of a site as it is on the platform, by title or id. */
export async function printActual(observation: Observation, site: string, context: CommandContext): Promise<ExitCode> {
  const choice = { kinds: [], sites: [site] };
  const load = { root: '', config: undefined };
  const common = { kinds, observation, choice, tree: NO_FILES, load, existing: null, folder: '' };
  const { files } = await importManifests(common);
  const declared = await declaredIn(new Map(files.map(({ path, text }) => [path, text])));
  const [found] = [...declared.values()].filter(({ kind }) => kind === 'site');
  if (found === undefined) {
    throw new ConfigError(`--docs-yaml: the site ${JSON.stringify(site)} cannot be imported`);
  }
  return print(toDocsYaml(declared, found.address), context);
}

async function declaredIn(files: ReadonlyMap<string, string>): Promise<ReadonlyMap<Address, Declared>> {
  const tree = withFiles(NO_FILES, files);
  return (await createManifestLoader(kinds).load(tree, { root: '', config: undefined })).declared;
}

function print({ text, left }: Converted, { terminal }: CommandContext): ExitCode {
  terminal.out(printableLines(text));
  terminal.err(left.map((each) => `left out: ${printable(each)}\n`).join(''));
  return EXIT.done;
}
