/** Writes manifests for resources that no manifest declares, for `octavo import`. */
import { readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { OrganizationConfig } from '../../config/config.ts';
import { addressOf } from '../../core/address.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { makeDirectory } from '../../core/files/disk.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import { resolveManifestFolder } from '../../git/repository.ts';
import {
  type Choice,
  type ExistingManifests,
  type Imported,
  importManifests,
  type ReadAll,
  readAll,
} from '../../import/import.ts';
import { type ImportedFile, SCHEMA_PATH } from '../../import/layout.ts';
import { kinds } from '../../kinds/registry.ts';
import { manifestJsonSchema } from '../../manifests/json-schema.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { findManifestFiles, isConfig } from '../../manifests/manifest-files.ts';
import { printable, printableLines } from '../../plan/render/words.ts';
import { readTarget } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { type PlatformSession, withPlatform } from '../cli/session.ts';
import { configIn, openFolder } from '../plan/desired.ts';
import { readWithProgress } from '../plan/progress.ts';
import { NO_FILES, printActual, printDeclared, printManifest } from './docs-yaml.ts';
import { type DriftFlags, driftPullRequest, importDrift } from './drift.ts';

interface ImportFlags extends Omit<DriftFlags, 'kinds'> {
  readonly kind?: readonly string[];
  readonly site?: readonly string[];
  /** Write drift into the existing manifests. */
  readonly drift?: boolean;
  /** Print the `docs.yaml` of this site. */
  readonly docsYaml?: string;
  /** Print the manifest of this `docs.yaml`. */
  readonly fromDocsYaml?: string;
  /** With drift: commit it to a separate branch and keep a pull request open. */
  readonly pullRequest?: boolean;
  /** Manifest directory around `out`; `true` for the working directory. */
  readonly unmanaged?: string | true;
}

/** Runs `octavo import`: writes manifests for undeclared resources. A plan of the result is empty. */
export async function importCommand(flags: ImportFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const choice = choiceOf(flags);
  checkFlags(flags);
  if (flags.drift === true) {
    const drift = { ...flags, kinds: choice.kinds };
    return flags.pullRequest === true ? driftPullRequest(drift, context) : importDrift(drift, context);
  }
  if (flags.fromDocsYaml !== undefined) {
    return printManifest(flags.fromDocsYaml, context);
  }
  const place = await findTarget(flags, terminal.cwd);
  const existing = await existingIn(place);
  if (flags.docsYaml !== undefined && existing?.declared.has(addressOf('site', flags.docsYaml)) === true) {
    return printDeclared(existing.declared, flags.docsYaml, context);
  }
  const target = await readTarget(flags, context, flags.out);
  const read = await withPlatform(target, context, (session) =>
    readFrom(target.organization, choice, session, context),
  );
  const { observation } = read;
  checkSites(choice, read);
  if (flags.docsYaml !== undefined) {
    return printActual(observation, flags.docsYaml, context);
  }
  const { tree, load, folder } = place;
  const imported = await importManifests({ kinds, observation, choice, tree, load, existing, folder });
  const files = [...imported.files, ...(await editorFiles(place, imported.files))];
  if (flags.dryRun === true) {
    terminal.out(files.map(shownFile).join(''));
  } else {
    await writeImported(place.root, files);
    terminal.out(files.map((file) => `${file.before === null ? '+' : '~'} ${relativeTo(place, file)}\n`).join(''));
  }
  terminal.err(`${summaryText(imported, read, existing)}\n`);
  return EXIT.done;
}

function choiceOf({ kind = [], site = [], docsYaml }: ImportFlags): Choice {
  if (docsYaml !== undefined) {
    return { kinds: [], sites: [docsYaml] };
  }
  const known = kinds.filter(({ manifest }) => manifest !== null).map(({ name }) => name);
  for (const name of kind) {
    const whole = kinds.find((each) => each.name === name)?.partOf;
    if (!known.includes(name)) {
      const hint = whole === undefined ? `use one of ${known.join(', ')}` : `it is imported with its ${whole}`;
      throw new ConfigError(`--kind: cannot import kind ${JSON.stringify(name)}; ${hint}`);
    }
  }
  // Named sites are imported in addition to the named kinds.
  return { kinds: kind.length > 0 && site.length > 0 ? [...kind, 'site'] : kind, sites: site };
}

/** Throws ConfigError for flags that have no effect together. */
function checkFlags(flags: ImportFlags): void {
  const {
    drift,
    unmanaged,
    site = [],
    kind = [],
    base,
    scope,
    pullRequest,
    onto,
    author,
    docsYaml,
    fromDocsYaml,
  } = flags;
  if (drift === true && (unmanaged !== undefined || site.length > 0)) {
    throw new ConfigError(
      '--drift cannot be combined with --site or --unmanaged, because it updates declared resources only',
    );
  }
  const [converts, ...more] = [docsYaml, fromDocsYaml].filter((each) => each !== undefined);
  if (converts !== undefined && (more.length > 0 || drift === true || site.length > 0 || kind.length > 0)) {
    throw new ConfigError(
      '--docs-yaml and --from-docs-yaml print one file; they cannot be combined with each other, --drift, --site or --kind',
    );
  }
  if (drift !== true && base !== undefined) {
    throw new ConfigError('--base requires --drift');
  }
  if (drift !== true && scope !== undefined) {
    throw new ConfigError('--scope requires --drift');
  }
  if (drift !== true && pullRequest === true) {
    throw new ConfigError('--pull-request requires --drift');
  }
  if (pullRequest !== true && (onto !== undefined || author !== undefined)) {
    throw new ConfigError('--onto and --author require --pull-request');
  }
}

function checkSites({ sites }: Choice, { observation }: ReadAll): void {
  const found = observation.kinds.get('site') ?? [];
  for (const name of sites) {
    if (!found.some(({ id, title }) => id === name || title === name)) {
      const titles = found.map(({ title }) => JSON.stringify(title)).sort();
      const hint = titles.length === 0 ? 'the organization has no sites' : `the sites are ${titles.join(', ')}`;
      throw new ConfigError(`--site: no site has the title or id ${JSON.stringify(name)}; ${hint}`);
    }
  }
}

/** The folder that an import writes to. */
interface ImportTarget {
  /** Absolute path of the manifest folder. */
  readonly root: string;
  /** The folder in messages. */
  readonly shown: string;
  /** Folder of new files, relative to the root. */
  readonly folder: string;
  readonly tree: FileTree;
  readonly load: { readonly root: string; readonly config: string | undefined };
}

async function findTarget({ out, unmanaged, config }: ImportFlags, cwd: string): Promise<ImportTarget> {
  const managed = unmanaged === true ? '.' : (unmanaged ?? out);
  const [root, target] = [resolve(cwd, managed), resolve(cwd, out)];
  const folder = relative(root, target);
  if (folder === '..' || folder.startsWith(`..${sep}`)) {
    throw new ConfigError(
      `--out ${out} is outside ${managed}; choose a directory inside it, so that plans read the imported manifests`,
    );
  }
  for (const path of [root, target]) {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isDirectory()) {
      throw new ConfigError(`${relative(cwd, path)} is not a directory; pass a directory for manifests`);
    }
  }
  const isThere = (await stat(root).catch(() => null)) !== null;
  if (isThere) {
    resolveManifestFolder(root);
  }
  return {
    root,
    shown: managed,
    folder: folder.split(sep).join('/'),
    tree: isThere ? openFolder(root) : NO_FILES,
    load: { root: '', config: configIn(root, cwd, config) },
  };
}

/** Returns the declarations of a folder; null without manifests. Throws DesiredStateError. */
async function existingIn({ tree, load }: ImportTarget): Promise<ExistingManifests | null> {
  const { files } = await findManifestFiles(tree, await tree.list(), load.config ?? null);
  const read = async (path: string) => Buffer.from(await tree.read(path)).toString('utf8');
  const isManifest = await Promise.all(files.map(async ({ path }) => !isConfig(path, await read(path))));
  if (!isManifest.includes(true)) {
    return null;
  }
  const { declared, paths } = await createManifestLoader(kinds).load(tree, load);
  // Byte order marks are kept, so that unchanged files stay identical.
  const texts = paths.map(async (path) => [path, await read(path)] as const);
  return { declared, manifests: new Map(await Promise.all(texts)) };
}

function readFrom(
  { id }: OrganizationConfig,
  choice: Choice,
  session: PlatformSession,
  { terminal }: CommandContext,
): Promise<ReadAll> {
  const names = choice.kinds.length === 0 && choice.sites.length > 0 ? ['site'] : choice.kinds;
  return readWithProgress(id, session, terminal, (reader) => readAll(kinds, names, reader));
}

/** Returns the schema file that new manifests refer to, if it does not exist yet. */
async function editorFiles({ root }: ImportTarget, files: readonly ImportedFile[]): Promise<readonly ImportedFile[]> {
  const isThere = (await stat(join(root, SCHEMA_PATH)).catch(() => null)) !== null;
  return isThere || files.every(({ before }) => before !== null)
    ? []
    : [
        {
          path: SCHEMA_PATH,
          text: `${JSON.stringify(manifestJsonSchema(kinds), null, 2)}\n`,
          before: null,
          addresses: [],
        },
      ];
}

function shownFile({ path, text, addresses }: ImportedFile): string {
  return path === SCHEMA_PATH
    ? ''
    : `--- ${printable(path)}${addresses.length === 0 ? ' (separate file)' : ''}\n${printableLines(text)}\n`;
}

function relativeTo({ shown }: ImportTarget, { path, addresses }: ImportedFile): string {
  const entries = addresses.length === 0 ? '' : `  ${entriesWords(addresses.length)}`;
  return `${shown === '.' ? '' : `${shown.replace(/\/$/, '')}/`}${printable(path)}${entries}`;
}

function entriesWords(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

function summaryText({ files, omitted }: Imported, { unread }: ReadAll, existing: ExistingManifests | null): string {
  const count = files.reduce((sum, { addresses }) => sum + addresses.length, 0);
  const existingText = existing === null ? '' : `; existing declarations are unchanged`;
  return [
    ...unread.map(({ kind, reason }) => `${kind} could not be read and was skipped: ${printable(reason)}`),
    ...omitted.map(({ kind, title, reason }) => `skipped: ${kind} ${JSON.stringify(printable(title))}: ${reason}`),
    count === 0 ? `Nothing to import${existingText}` : `Imported ${entriesWords(count)}${existingText}`,
  ].join('\n');
}

/**
 * Writes files into a folder, referenced files before those that refer to them. Never overwrites a file that has changed
 * since it was read, and writes nothing if the folder of any file cannot be created. Throws ConfigError.
 */
async function writeImported(root: string, files: readonly ImportedFile[]): Promise<void> {
  for (const { path } of files) {
    await checkParents(root, path);
  }
  const order = (file: ImportedFile) => (file.addresses.length === 0 ? 0 : file.before === null ? 1 : 2);
  for (const file of files.toSorted((a, b) => order(a) - order(b))) {
    const path = join(root, file.path);
    try {
      makeDirectory(dirname(path));
      if (file.before !== null && (await readFile(path, 'utf8')) !== file.before) {
        throw new Error('the file has changed since it was read; run import again');
      }
      await writeFile(path, file.text, { flag: file.before === null ? 'wx' : 'w' });
    } catch (error) {
      throw new ConfigError(`cannot write ${printable(file.path)}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** Checks that the parent folders of a file are inside the root; plans would not read files elsewhere. */
async function checkParents(root: string, path: string): Promise<void> {
  const within = await realpath(root).catch(() => null);
  const parts = path.split('/').slice(0, -1);
  for (let length = 1; within !== null && length <= parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    const real = await realpath(join(root, folder)).catch(() => null);
    if (real === null) {
      return;
    }
    const inside = relative(within, real);
    const isInside = inside !== '..' && !inside.startsWith(`..${sep}`);
    if (!isInside || !(await stat(real)).isDirectory()) {
      const what = isInside ? 'is not a directory' : 'is a link that leaves the manifest directory';
      throw new ConfigError(`cannot write ${printable(path)}: ${printable(folder)} ${what}`);
    }
  }
}
