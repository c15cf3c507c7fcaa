/** Derives the forge of a repository from its URL. See docs/commit-statuses.md. */
import type { ForgeConfig, ForgeType } from './forge.ts';

/** Forge of a repository. Null: the URL does not tell, and it is not configured. */
export interface ForgeTarget {
  readonly type: ForgeType | null;
  /** Address of the API, without a slash at its end. */
  readonly apiUrl: string | null;
  /** Path of the repository, such as `acme/docs`; at GitLab, groups may be nested. */
  readonly repository: string | null;
}

interface KnownHost {
  readonly host: RegExp;
  readonly type: ForgeType;
  readonly apiUrl: (host: string) => string;
}

const KNOWN: readonly KnownHost[] = [
  { host: /^github\.com$/, type: 'github', apiUrl: () => 'https://api.github.com' },
  { host: /^[a-z0-9-]+\.ghe\.com$/, type: 'github', apiUrl: (host) => `https://api.${host}` },
  { host: /^gitlab\.com$/, type: 'gitlab', apiUrl: () => 'https://gitlab.com/api/v4' },
  { host: /^codeberg\.org$/, type: 'gitea', apiUrl: () => 'https://codeberg.org/api/v1' },
  { host: /^bitbucket\.org$/, type: 'bitbucket', apiUrl: () => 'https://api.bitbucket.org/2.0' },
];
/** Hosts at which the forges serve ssh over the port of https. */
const SSH_HOSTS: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
};

/** Returns the settings of a forge, completed from the URL of the repository: https, ssh or `git@host:path`. */
export function forgeTarget(forge: Partial<ForgeConfig>, url: string): ForgeTarget {
  const place = readRemote(url);
  const known = KNOWN.find(({ host }) => place !== null && host.test(place.host));
  const isKnownType = known !== undefined && (forge.type === undefined || forge.type === known.type);
  const apiUrl = forge.apiUrl ?? (isKnownType && place !== null ? known.apiUrl(place.host) : null);
  return {
    type: forge.type ?? known?.type ?? null,
    apiUrl,
    repository: forge.repository ?? (place === null ? null : withoutRoot(place.path, apiUrl ?? '')),
  };
}

/** Removes the path of a forge that is not at the root of its host. */
function withoutRoot(path: string, apiUrl: string): string {
  const root = (URL.parse(apiUrl)?.pathname ?? '').replace(/\/api\/v\d+$/, '').slice(1);
  return root !== '' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** Splits the URL of a remote; null for a path on disk. */
function readRemote(text: string): { readonly host: string; readonly path: string } | null {
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+)$/.exec(text);
  const url = URL.parse(scp === null ? text : `ssh://${scp[1]}/${scp[2]?.replace(/^\//, '')}`);
  if (url === null || !/^(?:https?|ssh|git):$/.test(url.protocol)) {
    return null;
  }
  const host = url.hostname.toLowerCase();
  const path = url.pathname.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  return path === '' ? null : { host: SSH_HOSTS[host] ?? host, path };
}
