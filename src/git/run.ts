import { createRequire } from 'node:module';
import type { SimpleGit } from 'simple-git';
import { messageOf, SourceError } from '../core/errors.ts';
import { maskUrls } from '../core/safe-url.ts';

/** Loaded when git is first run: folders outside repositories need none. */
const require = createRequire(import.meta.url);

/** How git is run. */
export interface GitOptions {
  /** Where; must exist. */
  readonly directory: string;
  /** Milliseconds without a sign of life after which git is ended. */
  readonly timeout: number;
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

/**
 * Settings that hold for every run. A repository is a stranger's: its hooks and submodules never run, and no
 * transport that is a command is followed.
 */
const SAFE = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'protocol.ext.allow=never',
  'protocol.fd.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  // What is pushed is what is named, whatever else a person's own pushes take along.
  'push.followTags=false',
  'push.gpgSign=false',
] as const;

/** Variables of git's own that whoever runs Octavo may set: certificates, and where git's own settings are. */
const ALLOWED_ENVIRONMENT = [
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSH_COMMAND',
  'GIT_TERMINAL_PROMPT',
  'GIT_LFS_SKIP_SMUDGE',
  'GIT_ATTR_NOSYSTEM',
  'GIT_OPTIONAL_LOCKS',
];

/** Variables of git's own that only Octavo sets. */
const OWN_ENVIRONMENT = ['GIT_INDEX_FILE'];

/**
 * A git to call with `raw`. Every argument is made by Octavo, and each value from outside is checked before
 * (`safe-names.ts`), so simple-git's guards are lifted for the settings above, which only ever forbid.
 */
export function openGit(options: GitOptions): SimpleGit {
  const secret = options.secretConfig ?? [];
  const secretEnvironment = Object.fromEntries(
    secret.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  );
  const count = secret.length > 0 ? { GIT_CONFIG_COUNT: String(secret.length) } : {};
  const { simpleGit } = require('simple-git') as typeof import('simple-git');
  const git = simpleGit({
    baseDir: options.directory,
    config: [...SAFE, ...(options.config ?? [])],
    timeout: { block: options.timeout },
    trimmed: false,
    ...(options.signal === undefined ? {} : { abort: options.signal }),
    allowEnvironment: [
      ...ALLOWED_ENVIRONMENT,
      ...OWN_ENVIRONMENT,
      ...Object.keys(secretEnvironment),
      ...Object.keys(count),
    ],
    unsafe: {
      allowUnsafeHooksPath: true,
      allowUnsafeTemplateDir: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeProtocolOverride: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeSshCommand: true,
      allowUnsafeCredentialHelper: true,
    },
    ...(options.input === undefined ? {} : { input: () => options.input }),
    errors: (error, result) => error ?? (result.exitCode === 0 ? undefined : Buffer.concat(result.stdErr)),
  });
  return git.env({ ...surroundings(), ...options.env, ...secretEnvironment, ...count });
}

/** The process's own variables without git's, but for those allowed, and never a prompt. */
function surroundings(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined &&
      (ALLOWED_ENVIRONMENT.includes(pair[0]) || !/^(GIT_.*|EDITOR|VISUAL|PAGER|PREFIX|SSH_ASKPASS)$/i.test(pair[0])),
  );
  const ambient = Object.fromEntries(kept);
  return {
    ...ambient,
    GIT_SSH_COMMAND: `${ambient.GIT_SSH_COMMAND ?? 'ssh'} -o BatchMode=yes`,
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** What git complained of, without its boilerplate and without passwords. */
function complaintOf(error: unknown, secrets: readonly string[] = []): string {
  const message = messageOf(error);
  if (/\bspawn git ENOENT\b/.test(message)) {
    return 'there is no git on this machine; install it';
  }
  const lines = message
    .split('\n')
    .map((line) => line.replace(/^(fatal|error|remote|warning): */, '').trim())
    .filter(
      (line) => line !== '' && !/^(hint:|From |POST |Receiving|Resolving|Please make sure|and the repo)/.test(line),
    );
  // "Could not read" only repeats what stands before it; alone it is all there is.
  const telling = lines.filter((line) => !line.startsWith('Could not read from remote repository'));
  const text = (telling.length > 0 ? telling : lines).slice(-3).join('; ') || 'git said nothing';
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
