/**
 * Builds the environment of git processes from an allow list, so that no secret of Octavo reaches commands that git
 * starts.
 */
import { delimiter, isAbsolute } from 'node:path';

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
const REMOTE_PROTOCOLS = 'https:http:ssh:git:file';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment for a git process. Like all unlisted variables, `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE`
 * and `GIT_CONFIG_COUNT` are not passed on: the repository is never taken from the environment.
 */
export function gitEnvironment(ambient: Environment, { remote }: { readonly remote: boolean }): Record<string, string> {
  const extra = remote ? (ambient[EXTRA] ?? '').split(',').map((name) => name.trim()) : [];
  const names = [...EVERY_RUN, ...(remote ? REMOTE_RUN : []), ...extra.filter(canBePassed)];
  const passed = names.flatMap((name) => {
    const value = ambient[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    PATH: (ambient.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter),
    ...FIXED,
    // Overrides `protocol.*.allow` of every configuration. No protocol is called "none".
    GIT_ALLOW_PROTOCOL: remote ? REMOTE_PROTOCOLS : 'none',
    ...(remote ? { GIT_SSH_COMMAND: `${ambient.GIT_SSH_COMMAND ?? 'ssh'} -o BatchMode=yes` } : {}),
  };
}

/** Returns false for Octavo's own variables, and for those of git, which are set here. */
function canBePassed(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !/^(OCTAVO|GIT)_/i.test(name);
}
