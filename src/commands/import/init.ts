/** Creates a starter repository, for `octavo init`. */
import { existsSync, realpathSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { ConfigError, describeFileError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { makeDirectory } from '../../core/files/disk.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { pathArgument, shellCommand } from '../../core/text/shell.ts';
import { type ForgeName, findForge } from '../../forge/ci-job.ts';
import { initRepository, readOriginUrl } from '../../git/commits.ts';
import { findRepositoryRoot } from '../../git/work-tree.ts';
import { SCHEMA_PATH } from '../../import/layout.ts';
import { kinds } from '../../kinds/registry.ts';
import { manifestJsonSchema } from '../../manifests/json-schema.ts';
import { printable } from '../../plan/render/words.ts';
import type { CommandContext } from '../cli/context.ts';
import { nextCommand } from '../plan/next-command.ts';
import { importCommand } from './import.ts';

/** Forges with a workflow, and `none`. */
const INIT_FORGES = ['github', 'gitlab', 'gitea', 'bitbucket', 'none'] as const;

interface InitFlags {
  readonly forge?: (typeof INIT_FORGES)[number];
  /** Also create the workflow that opens pull requests for drift. */
  readonly drift?: boolean;
  /** Octavo repository and commit for the workflow, as `URL#COMMIT`. */
  readonly install?: string;
  /** False to skip the import. */
  readonly import: boolean;
  readonly config?: string;
  readonly organization?: string;
}

/** Placeholder in the example workflows. Neither part can exist: the domain is reserved, and no commit has that id. */
const PLACEHOLDER: Install = { source: 'https://git.example/OWNER/octavo.git', commit: '0'.repeat(40) };

/** An Octavo repository and a full commit id, which cannot be replaced like a tag or a package. */
interface Install {
  readonly source: string;
  readonly commit: string;
}

/** Parses `URL#COMMIT`. Throws ConfigError for a commit that is not a full id, and for characters special to a shell. */
function readInstall(text: string): Install {
  const [, source, commit] =
    /^((?:https|ssh):\/\/(?:\w+@)?[\w.:-]+\/[\w./~-]+)#([0-9a-f]{40}(?:[0-9a-f]{24})?)$/.exec(text) ?? [];
  if (source === undefined || commit === undefined) {
    throw new ConfigError(
      `--install ${JSON.stringify(maskUrls(text))} is not a repository URL with a full commit id; use a form such as https://git.example/acme/octavo.git#COMMIT (40 or 64 hexadecimal digits)`,
    );
  }
  return { source, commit };
}

/** Path of the workflow by forge. */
const WORKFLOWS: Readonly<Record<ForgeName, string>> = {
  github: '.github/workflows/octavo.yaml',
  gitlab: '.gitlab-ci.yml',
  gitea: '.gitea/workflows/octavo.yaml',
  bitbucket: 'bitbucket-pipelines.yml',
};

const EDITOR_FILE: StartingFile = {
  path: '.vscode/extensions.json',
  text: `${JSON.stringify({ recommendations: ['redhat.vscode-yaml'] }, null, 2)}\n`,
};

const STARTER = `# yaml-language-server: $schema=${SCHEMA_PATH}
# What is declared in the manifests of this repository is what Octavo makes of the organization; what is left out is not
# managed. "octavo import" writes what the organization has.
organization: {}
`;

interface StartingFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Runs `octavo init [DIR]`: creates manifests, editor settings and a workflow for the forge. Existing files are kept.
 */
export async function initCommand(folder: string, flags: InitFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const root = resolve(terminal.cwd, folder);
  const found = await stat(root).catch(() => null);
  if (found !== null && !found.isDirectory()) {
    throw new ConfigError(`${folder} is not a directory; pass a directory for the repository`);
  }
  const forge = await findForgeName(root, flags, context);
  makeDirectory(root);
  if (findRepositoryRoot(root) === null) {
    await initRepository(root);
  }
  // Forges and editors read their files from the repository root, not from the manifest folder.
  const repository = findRepositoryRoot(root) ?? root;
  const manifests = relative(repository, realpathSync(root)).split(sep).join('/') || '.';
  const install = flags.install === undefined ? PLACEHOLDER : readInstall(flags.install);
  const workflow = forge === null ? null : await workflowFile(forge, manifests, install, context);
  const hadManifests = await hasManifests(root);
  const schema = `${JSON.stringify(manifestJsonSchema(kinds), null, 2)}\n`;
  await writeNew(root, { path: SCHEMA_PATH, text: schema }, context);
  await writeNew(repository, EDITOR_FILE, context);
  if (workflow !== null) {
    await writeNew(repository, workflow, context);
    await writeDriftWorkflow(forge, manifests, repository, { ...flags, install }, context);
  }
  if (forge === 'bitbucket' && manifests === '.') {
    // Bitbucket's workflow is not in a hidden folder, so it would be read as a manifest.
    await writeNew(root, { path: '.octavoignore', text: `${WORKFLOWS.bitbucket}\n` }, context);
  }
  if (!hadManifests && (await shouldImport(flags, context))) {
    // Does not pass --drift on, which has another meaning for import.
    const { config, organization } = flags;
    await importCommand({ config, organization, out: relative(terminal.cwd, root) || '.' }, context);
  }
  if (!(await hasManifests(root))) {
    await writeNew(root, { path: 'organization.yaml', text: STARTER }, context);
  }
  terminal.err(nextSteps(folder, flags, workflow));
  return EXIT.done;
}

async function findForgeName(
  root: string,
  { forge }: InitFlags,
  { terminal }: CommandContext,
): Promise<ForgeName | null> {
  if (forge !== undefined) {
    return forge === 'none' ? null : forge;
  }
  const there = nearestFolder(root);
  const repository = findRepositoryRoot(there) ?? there;
  const found = findForge(await readOriginUrl(there), (path) => existsSync(join(repository, path)));
  if (found !== null) {
    return found;
  }
  const choice = `Forge that hosts ${printable(basename(repository))} (${INIT_FORGES.join(', ')}): `;
  const answer = terminal.ask === null ? '' : (await terminal.ask(choice)).trim().toLowerCase();
  const chosen = INIT_FORGES.find((name) => name === answer);
  if (chosen === undefined) {
    throw new ConfigError(
      `cannot detect the forge of the repository; pass --forge with one of ${INIT_FORGES.join(', ')}`,
    );
  }
  return chosen === 'none' ? null : chosen;
}

/** Returns the nearest existing folder. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** Writes the drift workflow, or prints where the forge has it or that there is none. */
async function writeDriftWorkflow(
  forge: ForgeName | null,
  folder: string,
  repository: string,
  { drift, install }: { readonly drift?: boolean; readonly install: Install },
  context: CommandContext,
): Promise<void> {
  if (drift !== true) {
    return;
  }
  if (forge === 'github' || forge === 'gitea') {
    await writeNew(repository, await workflowFile(forge, folder, install, context, '-drift'), context);
  } else if (forge !== null) {
    context.terminal.err(
      forge === 'gitlab'
        ? `${WORKFLOWS.gitlab} includes the drift job; create a pipeline schedule to run it\n`
        : 'Octavo does not open pull requests on Bitbucket, so no drift workflow was created\n',
    );
  }
}

/** Builds the workflow for a manifest folder. Throws ConfigError for a folder name that needs shell quotes. */
async function workflowFile(
  forge: ForgeName,
  folder: string,
  install: Install,
  { root }: CommandContext,
  which: '' | '-drift' = '',
): Promise<StartingFile> {
  if (!/^[\w./-]+$/.test(folder)) {
    throw new ConfigError(
      `the directory name ${JSON.stringify(folder)} is not safe in the shell commands of the workflow; rename it with letters, digits, "-" and "_"`,
    );
  }
  const text = await readFile(new URL(`examples/pull-request/${forge}${which}.yaml`, root), 'utf8');
  const path = WORKFLOWS[forge].replace(/(?=\.yaml$)/, which);
  const named = text.replaceAll(PLACEHOLDER.source, install.source).replaceAll(PLACEHOLDER.commit, install.commit);
  return { path, text: named.replace(/(?<=octavo (?:(?:validate|plan|apply)|import .*--out) )\.(?= |$)/gm, folder) };
}

async function writeNew(root: string, { path, text }: StartingFile, { terminal }: CommandContext): Promise<void> {
  const file = join(root, path);
  const shown = printable(relative(terminal.cwd, file));
  try {
    makeDirectory(dirname(file));
    await writeFile(file, text, { flag: 'wx' });
    terminal.out(`+ ${shown}\n`);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    // The same code of mkdir means that a file is in place of a folder.
    if (code !== 'EEXIST' || syscall !== 'open') {
      throw new ConfigError(describeFileError(error) ?? `cannot write ${shown}: ${messageOf(error)}`, { cause: error });
    }
    terminal.err(`${shown} already exists; it was kept unchanged\n`);
  }
}

/** Returns true if the folder has files that could be manifests; then nothing is imported. */
async function hasManifests(root: string): Promise<boolean> {
  const all = await readdir(root, { recursive: true });
  return all.some((path) => {
    const parts = path.split(/[\\/]/);
    const isSeen = !parts.some((part) => part.startsWith('.') || part === 'node_modules');
    return isSeen && /\.ya?ml$/.test(path) && path !== 'config.yaml' && path !== WORKFLOWS.bitbucket;
  });
}

/** Decides whether to import: a token or configuration is set, and the user does not decline. */
async function shouldImport(flags: InitFlags, { terminal }: CommandContext): Promise<boolean> {
  const { OCTAVO_TOKEN = '' } = terminal.env;
  if (!flags.import || (OCTAVO_TOKEN === '' && flags.config === undefined)) {
    return false;
  }
  const from =
    flags.organization ?? terminal.env.OCTAVO_ORGANIZATION ?? `the organization in ${flags.config ?? 'config.yaml'}`;
  const question = `Import the existing resources of ${printable(from)}? [Y/n] `;
  return terminal.ask === null || !/^n/i.test((await terminal.ask(question)).trim());
}

function nextSteps(
  folder: string,
  { config, organization, install }: InitFlags,
  workflow: StartingFile | null,
): string {
  const name = pathArgument(folder);
  const pin = `OCTAVO_SOURCE and OCTAVO_COMMIT in ${workflow?.path} to an Octavo commit that you trust, and the variables that it lists`;
  const what = install === undefined ? pin : `the variables that ${workflow?.path} lists`;
  const set = workflow === null ? '' : `Set ${what}, so that pull requests show their plans. `;
  // Manifests can only refer to files that git tracks.
  const add = shellCommand(['git', '-C', folder, 'add', '.']);
  const validate = nextCommand(['validate', name], { config });
  return `${set}Next: ${add} && ${validate} && ${nextCommand(['plan', name], { config, organization })}\n`;
}
