/** Settings of the forge that hosts the repository of an organization. See docs/commit-statuses.md and docs/webhooks.md. */
import * as z from 'zod';
import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { readSigningKey } from '../core/signature.ts';
import type { ConfigDocument } from './document.ts';
import { choice, secret, setting, text, token } from './settings.ts';
import { asList, asMapping, type Path, type RawSettings, readBaseUrl, readFlag } from './values.ts';

const FORGES = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
type ForgeType = (typeof FORGES)[number];

/** Permissions in a repository that people can need to approve by comment, lowest first. */
const PERMISSIONS = ['write', 'maintain', 'admin'] as const;

/** Schema of the forge of one organization. */
export function forgeSchema() {
  return z.strictObject({
    /** Undefined: by the host of `source.git.url`. */
    type: choice(FORGES).optional(),
    /** Undefined: that of the host. */
    apiUrl: setting('the address of the API, such as https://git.acme.example/api/v4', readBaseUrl).optional(),
    /** Undefined: by the path of `source.git.url`. */
    repository: text('the repository, such as acme/docs').optional(),
    /** Undefined: no commit statuses. */
    token: token().optional(),
    statusContext: text('the name of the commit status, such as octavo/acme').optional(),
    /** Undefined: no deployments. */
    environment: text('the name of an environment, such as docs/acme').optional(),
    /** Undefined: no webhook. */
    webhookSecret: secret('the secret of the webhook').optional(),
    /** Undefined: comments on pull requests approve nothing. `users`: only they may; undefined: everybody with the permission. */
    approveByComment: z
      .strictObject({
        permission: choice(PERMISSIONS).prefault('maintain'),
        users: z.array(text('the name of an account at the forge')).optional(),
      })
      .optional(),
  });
}

/** Settings of a forge. */
export type ForgeConfig = Readonly<z.output<ReturnType<typeof forgeSchema>>>;

/** Forge of a repository. Null: the URL does not tell, and it is not configured. */
interface ForgeTarget {
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

/** Shortest secret of a webhook, in characters. */
const SHORTEST = 16;

/** Checks the forge of every organization. The checks use raw values, like all that involve several settings. */
export function forgeProblems(document: ConfigDocument): readonly Problem[] {
  const settings = asList(asMapping(document.values).organizations).flatMap((organization, index) => {
    const { forge, source, approvals } = asMapping(organization);
    const { data } = forgeSchema().safeParse(forge);
    const at: Path = ['organizations', index, 'forge'];
    const { notAuthor } = asMapping(approvals);
    return isObject(forge) ? [{ at, forge, data, url: asMapping(asMapping(source).git).url, notAuthor }] : [];
  });
  return [
    ...settings.flatMap(({ at, data, url }) => {
      const message = data?.webhookSecret === undefined ? null : webhookProblem(data, data.webhookSecret, url);
      return message === null ? [] : [document.problemAt([...at, 'webhookSecret'], message)];
    }),
    ...settings.flatMap(({ at, forge, data, url }) => statusProblems(document, at, forge, data, url)),
    ...settings.flatMap(({ at, data, url, notAuthor }) => {
      const message = data?.approveByComment === undefined ? null : commentProblem(data, url, notAuthor);
      return message === null ? [] : [document.problemAt([...at, 'approveByComment'], message)];
    }),
  ];
}

/** Says what approvals by comment lack; null if nothing. */
function commentProblem(forge: ForgeConfig, url: unknown, notAuthor: unknown): string | null {
  const missing = [
    ...(forge.token === undefined ? ['forge.token, which reads permissions and answers'] : []),
    ...(forge.webhookSecret === undefined ? ['forge.webhookSecret, because comments arrive by webhook'] : []),
  ];
  if (missing.length > 0) {
    return `requires ${missing.join(', and ')}`;
  }
  const { type } = forgeTarget(forge, String(url));
  if (type !== null && type !== 'github' && type !== 'gitlab') {
    return 'is for GitHub and GitLab; leave it out';
  }
  return readFlag(notAuthor) === true
    ? 'does nothing with approvals.notAuthor, because forges do not tell the emails of people who comment; set one of them'
    : null;
}

function webhookProblem(forge: ForgeConfig, secret: string, url: unknown): string | null {
  if (typeof url !== 'string') {
    return 'is for a webhook, which requires source.git; set it, or leave out the secret';
  }
  const { type, repository } = forgeTarget(forge, url);
  if (type === null || repository === null) {
    const needed = [...(type === null ? ['forge.type'] : []), ...(repository === null ? ['forge.repository'] : [])];
    return `is for a webhook of a forge that source.git.url does not tell; set ${needed.join(' and ')}`;
  }
  if (secret.length < SHORTEST) {
    return `is shorter than ${SHORTEST} characters; create one with openssl rand -hex 32`;
  }
  return type === 'gitlab' && secret.startsWith('whsec_') && readSigningKey(secret) === null
    ? 'is not a signing token; copy the token that GitLab shows, which is whsec_ followed by base64'
    : null;
}

/** Forge whose type, API and repository are all known. */
type StatusForge = { readonly [Name in keyof ForgeTarget]: NonNullable<ForgeTarget[Name]> };
type Settings = Pick<ForgeConfig, 'type' | 'apiUrl' | 'repository'>;

const NEEDED = {
  type: 'forge.type to one of github, gitlab, gitea, bitbucket',
  apiUrl: 'forge.apiUrl to the address of its API, such as https://git.acme.example/api/v4',
  repository: 'forge.repository to the repository, such as acme/docs',
} as const satisfies Record<keyof StatusForge, string>;

/** Returns the forge of a repository; otherwise the settings that have to be set, because its URL does not show them. */
export function findStatusForge(settings: Settings, gitUrl: string): StatusForge | readonly (keyof StatusForge)[] {
  const { type, apiUrl, repository } = forgeTarget(settings, gitUrl);
  const named = repository !== null && (type === null || isRepository(repository, type)) ? repository : null;
  return type !== null && apiUrl !== null && named !== null
    ? { type, apiUrl, repository: named }
    : (Object.keys(NEEDED) as (keyof StatusForge)[]).filter(
        (name) => ({ type, apiUrl, repository: named })[name] === null,
      );
}

/** Returns true if a text can name a repository at a forge. */
function isRepository(text: string, type: ForgeType): boolean {
  const parts = text.split('/');
  const isPath = parts.every((part) => /^(?!\.{1,2}$)[\w.~-]+$/.test(part));
  return type === 'gitlab' ? /^\d+$/.test(text) || (isPath && parts.length >= 2) : isPath && parts.length === 2;
}

/** `data`: the settings; undefined if some of them are invalid. */
function statusProblems(
  document: ConfigDocument,
  at: Path,
  forge: RawSettings,
  data: ForgeConfig | undefined,
  url: unknown,
): readonly Problem[] {
  const problem = (name: string, message: string) => [document.problemAt([...at, name], message)];
  if (forge.token === undefined) {
    return ['statusContext', 'environment']
      .filter((name) => forge[name] !== undefined)
      .flatMap((name) => problem(name, 'does nothing without a token; set forge.token'));
  }
  if (typeof url !== 'string') {
    return problem('token', 'sets commit statuses, which require source.git; set it, or leave out the token');
  }
  if (data === undefined) {
    return [];
  }
  const found = findStatusForge(data, url);
  if (!('type' in found)) {
    const needed = found.map((name) => NEEDED[name]).join(', and ');
    return [document.problemAt(at, `cannot be derived from source.git.url; set ${needed}`)];
  }
  const hasDeployments = found.type === 'github' || found.type === 'gitlab';
  return forge.environment === undefined || hasDeployments
    ? []
    : problem('environment', 'is for GitHub and GitLab, which have deployments; leave it out');
}
