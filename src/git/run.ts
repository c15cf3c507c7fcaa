/** The only place that starts git: its safe settings and environment, and the checks of values from outside. */
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { SimpleGit } from 'simple-git';
import { messageOf, SourceError } from '../core/errors.ts';
import { maskUrls } from '../core/text/safe-url.ts';
import { checkOwner, type Repository, requireRepository } from './repository.ts';

/** Milliseconds without output after which git is stopped. */
const TIMEOUT = 60_000;

/** Loads simple-git when git runs first; directories outside of repositories do not need it. */
const require = createRequire(import.meta.url);

/** Options of a git process. */
export interface GitOptions {
  /** Repository to work on; its `root` must exist. */
  readonly repository: Repository;
  /** Milliseconds without output after which git is stopped; a minute where absent. */
  readonly timeout?: number;
  /** True to allow remote access. By default no transport is allowed, and no variables for remote access are passed. */
  readonly remote?: boolean;
  /** Stops git when it aborts. */
  readonly signal?: AbortSignal;
  /** More settings, `key=value`, as with `git -c`. */
  readonly config?: readonly string[];
  /** Settings that must not appear in a process list or on disk, such as a URL with a password. */
  readonly secretConfig?: readonly (readonly [key: string, value: string])[];
  /** Variables for git and what it starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
}

/** Git on a repository. Both methods throw the error output of git. */
export interface Git {
  /** Returns standard output as text. Throws OutputError beyond `most` bytes. */
  raw(args: readonly string[], most?: number): Promise<string>;
  /** Returns standard output as bytes. */
  bytes(args: readonly string[]): Promise<Buffer>;
}

/**
 * Settings of every run. Repositories are not trusted: hooks and submodules never run, transports that are commands are
 * not used, and files that would replace `.git` on any file system are not checked out.
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
  // Only the named refs are pushed, whatever the user's settings are.
  'push.followTags=false',
  'push.gpgSign=false',
  'commit.gpgSign=false',
  'log.showSignature=false',
] as const;

/** The output of git exceeds the limit. */
export class OutputError extends Error {}

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller gets: starting a process blocks the thread. */
export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/** Bytes of output after which git is stopped, because a small repository can contain a tree of unbounded size. */
const MAX_OUTPUT_SIZE = { text: 128 * 1_048_576, bytes: 512 * 1_048_576 } as const;

/**
 * Opens git on a repository. The location of the repository is passed, never searched for. Git runs no hooks, filters,
 * file system monitors or pagers, and its environment has none of Octavo's secrets. Commands that run filters, text
 * converters or merge drivers (`status`, `diff`, `add`, `merge`) must not be used on untrusted repositories. Octavo
 * creates every argument and checks each value from outside first, so the guards of simple-git are
 * disabled for the settings above, which only forbid.
 */
export function openGit(options: GitOptions): Git {
  const call = async <T>(most: number, run: (git: SimpleGit) => Promise<T>): Promise<T> => {
    const limit = new AbortController();
    const { signal } = options;
    const end = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
    await nextTurn();
    try {
      return await run(limitOutput(startGit(options, end), limit, most));
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    }
  };
  return {
    raw: (args, most = MAX_OUTPUT_SIZE.text) => call(most, async (git) => git.raw([...args])),
    bytes: (args) => call(MAX_OUTPUT_SIZE.bytes, async (git) => git.binaryCatFile([...args])),
  };
}

/** Opens git in the repository of a directory. Throws SourceError if it is in none. */
export function gitIn(directory: string, options: Omit<GitOptions, 'repository'> = {}): Git {
  return openGit({ repository: requireRepository(directory), ...options });
}

/** Opens git with access to the remotes of a repository, using the settings of that repository. Throws SourceError. */
export async function openRemoteGit(directory: string): Promise<Git> {
  const repository = requireRepository(directory);
  await checkOwner(repository, () => readSafeDirectories(repository));
  return openGit({ repository, remote: true });
}

/** Returns the directories that the user trusts, from settings that no repository can change. */
async function readSafeDirectories({ root }: Repository): Promise<readonly string[]> {
  // A repository that does not exist has no settings.
  const git = openGit({ repository: { root, gitDir: '/dev/null/none' } });
  const answer = await git.raw(['config', '--null', '--get-all', 'safe.directory']).catch(() => '');
  return answer.split('\0').slice(0, -1);
}

function startGit(options: GitOptions, signal: AbortSignal): SimpleGit {
  const { root, gitDir } = options.repository;
  const secret = options.secretConfig ?? [];
  const own = {
    ...gitEnvironment(options.remote ?? false),
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
    timeout: { block: options.timeout ?? TIMEOUT },
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

/** Returns the error output of git, without boilerplate and passwords. */
function describeFailure(error: unknown, secrets: readonly string[]): string {
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
  // "Could not read" only repeats the lines before it, so it is only used if it is the only line.
  const informative = lines.filter((line) => !line.startsWith('Could not read from remote repository'));
  const text = (informative.length > 0 ? informative : lines).slice(-3).join('; ') || 'git reported no reason';
  return redact(text, secrets);
}

/** Removes known secrets, and user info and tokens of URLs. */
function redact(text: string, secrets: readonly string[] = []): string {
  const known = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return maskUrls(known, () => '');
}

/** Creates a SourceError with what was tried and the error output of git. */
export function gitFailure(tried: string, error: unknown, secrets: readonly string[] = []): SourceError {
  return error instanceof SourceError ? error : new SourceError(`${tried}: ${describeFailure(error, secrets)}`);
}

/** Runs git for what `tried` says. Throws SourceError with the error output of git. */
export async function tryGit<T>(tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw gitFailure(tried, error);
  }
}

/** Variables for every git process: locations of programs, settings and temporary files. */
const EVERY_RUN = [
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TMP',
  'TEMP',
  'XDG_CONFIG_HOME',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATHEXT',
  'PROGRAMDATA',
  'SYSTEMROOT',
  'USERPROFILE',
];

/** Variables only for remote access: keys, proxies, certificates, and variables of credential helpers. */
const REMOTE_RUN = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'HTTP_PROXY',
  'http_proxy',
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
  'CURL_CA_BUNDLE',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'KRB5CCNAME',
  'KRB5_CONFIG',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  // GitLab's runner writes a credential helper that reads it.
  'CI_JOB_TOKEN',
];

/** Variable with the names of more variables for remote access, separated by commas. */
const EXTRA = 'OCTAVO_GIT_ENVIRONMENT';

/** Variables that Octavo always sets itself. */
const FIXED = {
  // Messages are parsed, so they must be in English.
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  // Before any `core.gitProxy` of a repository.
  GIT_PROXY_COMMAND: '',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
} as const;

/** Transports that are not commands. */
const PROTOCOLS = ['https', 'http', 'ssh', 'git', 'file'];

/**
 * Returns the environment for a git process. Like all unlisted variables, `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE`
 * and `GIT_CONFIG_COUNT` are not passed on: the repository is never taken from the environment.
 */
function gitEnvironment(remote: boolean): Record<string, string> {
  const { env } = process;
  const extra = (env[EXTRA] ?? '').split(',').map((name) => name.trim());
  const names = remote ? [...EVERY_RUN, ...REMOTE_RUN, ...extra.filter(canBePassed)] : EVERY_RUN;
  const passed = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    PATH: (env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter),
    ...FIXED,
    // Overrides `protocol.*.allow` of every configuration. No protocol is called "none".
    GIT_ALLOW_PROTOCOL: remote ? PROTOCOLS.join(':') : 'none',
    ...(remote ? { GIT_SSH_COMMAND: `${env.GIT_SSH_COMMAND ?? 'ssh'} -o BatchMode=yes` } : {}),
  };
}

/** Returns false for Octavo's own variables, and for those of git, which are set here. */
function canBePassed(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !/^(OCTAVO|GIT)_/i.test(name);
}

/** Address of a repository, parsed so that no secret has to be passed on a command line. */
export interface RemoteAddress {
  /** URL without a password, and without a user name if that is passed separately. */
  readonly url: string;
  /** Form for messages, without secrets. */
  readonly label: string;
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

/**
 * Parses a repository URL: https, http, ssh, git or file, `user@host:path`, or a directory. Throws SourceError for
 * anything else, especially for text that git would take as an option or a command.
 */
export function readRemote(url: string): RemoteAddress {
  const label = redact(url);
  const refuse = () =>
    new SourceError(`${JSON.stringify(label)} is not a repository URL; use a URL such as https://git.example/docs.git`);
  if (url === '' || url.startsWith('-') || hasControl(url) || /^[a-z0-9+.-]+::/i.test(url)) {
    throw refuse();
  }
  if (!url.includes('://')) {
    const isFolder = url.startsWith('/') || url.startsWith('.');
    if (!isFolder && !/^([A-Za-z0-9._~+-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^-]/.test(url)) {
      throw refuse();
    }
    return { url, label, credentials: null };
  }
  const parsed = URL.parse(url);
  if (parsed === null || !PROTOCOLS.includes(parsed.protocol.slice(0, -1)) || parsed.hostname.startsWith('-')) {
    throw refuse();
  }
  if (!parsed.protocol.startsWith('http') || (parsed.username === '' && parsed.password === '')) {
    return { url, label, credentials: null };
  }
  const credentials = { username: decodeURIComponent(parsed.username), password: decodeURIComponent(parsed.password) };
  parsed.username = '';
  parsed.password = '';
  return { url: parsed.href, label, credentials };
}

/** Returns true if a text is the full id of a commit. */
export function isCommitId(ref: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
}

/**
 * Throws SourceError if a text is not a valid name of a branch, a tag or a commit by git's rules, or could be taken as
 * an option. `~` and `^` are refused too, because a ref must be a name, not an expression.
 */
export function checkRefName(ref: string): void {
  const bad =
    ref === '' ||
    ref.startsWith('-') ||
    ref.startsWith('/') ||
    hasControl(ref) ||
    /[\s~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.lock$/.test(ref);
  if (bad) {
    throw new SourceError(`${JSON.stringify(ref)} is not a valid branch, tag or commit name`);
  }
}

function hasControl(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\u007f');
}
