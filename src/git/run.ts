import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { SimpleGit } from 'simple-git';
import { messageOf, SourceError } from '../core/errors.ts';
import { maskUrls } from '../core/text/safe-url.ts';
import { gitEnvironment } from './environment.ts';
import { mustBeOwned, type Repository } from './repository.ts';

/** Loaded when git is first run: folders outside repositories need none. */
const require = createRequire(import.meta.url);

/** How git is run. */
export interface GitOptions {
  /** Where; its `root` must exist. */
  readonly repository: Repository;
  /** Milliseconds without a sign of life after which git is ended. */
  readonly timeout: number;
  /** Whether it may talk to a remote. Default: no transport is allowed, and no variable for one is passed. */
  readonly remote?: boolean;
  /** Ends git when it aborts. */
  readonly signal?: AbortSignal;
  /** Further settings, `key=value`, as with `git -c`. */
  readonly config?: readonly string[];
  /** Settings that must not be seen in a process list or on disk, such as a URL with a password. */
  readonly secretConfig?: readonly (readonly [key: string, value: string])[];
  /** Variables for git and what it starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** What git reads from its standard input. */
  readonly input?: string;
}

/** A git to call. Both throw what git complained of. */
export interface Git {
  /** Standard output as text; `most` bytes of it, else OutputError. */
  raw(args: readonly string[], most?: number): Promise<string>;
  /** Standard output as it is. */
  bytes(args: readonly string[]): Promise<Buffer>;
}

/**
 * Settings that hold for every run. A repository is a stranger's: its hooks and submodules never run, no transport that
 * is a command is followed, and what would replace its own `.git` on any file system is not checked out.
 */
const SAFE = [
  'safe.bareRepository=explicit',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.askPass=',
  'core.alternateRefsCommand=',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'fetch.writeCommitGraph=false',
  'transfer.bundleURI=false',
  'protocol.ext.allow=never',
  'protocol.fd.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  // What is pushed is what is named, whatever else a person's own pushes take along.
  'push.followTags=false',
  'push.gpgSign=false',
  'commit.gpgSign=false',
  'log.showSignature=false',
] as const;

/** Git has more to say than is read. */
export class OutputError extends Error {}

/** Bytes of output after which git is ended: a small repository can hold a tree that unfolds without end. */
const LARGEST_OUTPUT = { text: 128 * 1_048_576, bytes: 512 * 1_048_576 } as const;

/**
 * Opens git on a repository: the only place that runs it. Git is told where the repository is and looks for none; runs
 * no hook, no filter, no file system monitor and no pager; and gets an environment without Octavo's secrets. Commands
 * that run filters, text converters or merge drivers (`status`, `diff`, `add`, `merge`) are not for repositories of
 * others. Every argument is made by Octavo, and each value from outside is checked before (`safe-names.ts`), so
 * simple-git's guards are lifted for the settings above, which only ever forbid.
 */
export function openGit(options: GitOptions): Git {
  const call = async <T>(most: number, run: (git: SimpleGit) => Promise<T>): Promise<T> => {
    const limit = new AbortController();
    const { signal } = options;
    const end = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
    await ownTurn();
    try {
      return await run(limitOutput(startGit(options, end), limit, most));
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    }
  };
  return {
    raw: (args, most = LARGEST_OUTPUT.text) => call(most, async (git) => git.raw([...args])),
    bytes: (args) => call(LARGEST_OUTPUT.bytes, async (git) => git.binaryCatFile([...args])),
  };
}

let turns: Promise<void> = Promise.resolve();

/** Waits for a turn of the event loop. Starting a process blocks the thread, so each turn starts at most one. */
function ownTurn(): Promise<void> {
  turns = turns.then(() => new Promise((done) => setImmediate(done)));
  return turns;
}

/** A git that talks to the remotes of a repository, by the settings of that repository. Throws SourceError. */
export async function openRemoteGit(options: Omit<GitOptions, 'remote'>): Promise<Git> {
  mustBeOwned(options.repository, await safeDirectories(options));
  return openGit({ ...options, remote: true });
}

/** What the user trusts, by settings that no repository can make. */
async function safeDirectories({ repository, timeout }: GitOptions): Promise<readonly string[]> {
  // A repository that is not there has no settings.
  const nowhere = { root: repository.root, gitDir: '/dev/null/none' };
  const git = openGit({ repository: nowhere, timeout });
  const answer = await git.raw(['config', '--null', '--get-all', 'safe.directory']).catch(() => '');
  return answer.split('\0').slice(0, -1);
}

function startGit(options: GitOptions, signal: AbortSignal): SimpleGit {
  const { root, gitDir } = options.repository;
  const secret = options.secretConfig ?? [];
  const own = {
    ...gitEnvironment(process.env, { remote: options.remote ?? false }),
    GIT_DIR: gitDir,
    GIT_WORK_TREE: root,
    GIT_CEILING_DIRECTORIES: dirname(root),
    ...options.env,
    ...Object.fromEntries(
      secret.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...(secret.length > 0 ? { GIT_CONFIG_COUNT: String(secret.length) } : {}),
  };
  const { simpleGit } = require('simple-git') as typeof import('simple-git');
  const git = simpleGit({
    baseDir: root,
    config: [...SAFE, ...(options.config ?? [])],
    timeout: { block: options.timeout },
    trimmed: false,
    abort: signal,
    allowEnvironment: Object.keys(own),
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeHooksPath: true,
      allowUnsafeTemplateDir: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeGitProxy: true,
      allowUnsafePack: true,
      allowUnsafeProtocolOverride: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeSshCommand: true,
      allowUnsafeCredentialHelper: true,
    },
    ...(options.input === undefined ? {} : { input: () => options.input }),
    errors: (error, result) => error ?? (result.exitCode === 0 ? undefined : Buffer.concat(result.stdErr)),
  });
  return git.env(own);
}

function limitOutput(git: SimpleGit, limit: AbortController, most: number): SimpleGit {
  let bytes = 0;
  return git.outputHandler((_command, stdout) => {
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > most) {
        limit.abort(new OutputError(`git output exceeds ${Math.ceil(most / 1_048_576)} MB`));
      }
    });
    // After a run without output, simple-git waits 50 ms for late data. At the end of the stream there is none.
    stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
  });
}

/** What git complained of, without its boilerplate and without passwords. */
function complaintOf(error: unknown, secrets: readonly string[] = []): string {
  const message = messageOf(error);
  if (/\bspawn git ENOENT\b/.test(message)) {
    return 'git is not installed; install it';
  }
  const lines = message
    .split('\n')
    .map((line) => line.replace(/^(fatal|error|remote|warning): */, '').trim())
    .filter(
      (line) => line !== '' && !/^(hint:|From |POST |Receiving|Resolving|Please make sure|and the repo)/.test(line),
    );
  // "Could not read" only repeats what stands before it; alone it is all there is.
  const telling = lines.filter((line) => !line.startsWith('Could not read from remote repository'));
  const text = (telling.length > 0 ? telling : lines).slice(-3).join('; ') || 'git reported no reason';
  return redact(text, secrets);
}

/** Takes user info and tokens out of URLs, and what is known to be secret. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const known = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return maskUrls(known, () => '');
}

/** A SourceError in words: what was tried, and what git said. */
export function gitFailure(tried: string, error: unknown, secrets: readonly string[] = []): SourceError {
  return error instanceof SourceError ? error : new SourceError(`${tried}: ${complaintOf(error, secrets)}`);
}
