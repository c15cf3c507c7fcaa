/** Short words, times and addresses, which pages, messages and commands share. */

import { posix } from 'node:path';
import type { ManifestSource } from '../../config/config.ts';
import { spanWords } from '../../plan/render/words.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Characters of a commit or checksum that are shown. */
const SHORT_ID = 7;

/** `40 seconds ago`, `in 2 minutes` or `now`. Both arguments are milliseconds since the epoch. */
export function ageWords(at: number, now: number): string {
  if (Math.abs(now - at) < SECOND) {
    return 'now';
  }
  return at <= now ? `${spanWords(now - at)} ago` : `in ${spanWords(at - now)}`;
}

/** `0.4 s`, `12 s`, `3 min`. */
export function secondsWords(milliseconds: number): string {
  if (milliseconds < 10 * SECOND) {
    return `${(milliseconds / SECOND).toFixed(1)} s`;
  }
  return milliseconds < 2 * MINUTE
    ? `${Math.round(milliseconds / SECOND)} s`
    : `${Math.round(milliseconds / MINUTE)} min`;
}

/** Returns the start of a commit id. */
export function shortCommit(commit: string): string {
  return commit.slice(0, SHORT_ID);
}

/** Returns the start of a checksum, without the name of its algorithm. */
export function shortChecksum(checksum: string): string {
  return checksum.slice(checksum.indexOf(':') + 1).slice(0, SHORT_ID);
}

/** Formats a time as ISO 8601 in UTC; null stays null. */
export function isoTime<T extends number | null>(at: T): T extends null ? null : string {
  return (at === null ? null : new Date(at).toISOString()) as T extends null ? null : string;
}

/** Path of an organization, or of a page below it. */
export function organizationPath(organization: string, below = ''): string {
  return `/o/${encodeURIComponent(well(organization))}${below}`;
}

/** Path of a resource. Slashes of the address stay slashes. */
export function resourcePath(organization: string, address: string): string {
  const segments = address.split('/').map((segment) => encodeURIComponent(well(segment)));
  return organizationPath(organization, `/r/${segments.join('/')}`);
}

export function planPath(organization: string, checksum: string): string {
  return organizationPath(organization, `/plans/${encodeURIComponent(well(checksum))}`);
}

export function passPath(organization: string, number: number): string {
  return organizationPath(organization, `/history/${number}`);
}

export function questionPath(organization: string, cluster: string): string {
  return organizationPath(organization, `/questions/${encodeURIComponent(well(cluster))}`);
}

export function deadLetterPath(organization: string, key: string): string {
  return organizationPath(organization, `/refused/${encodeURIComponent(well(key))}`);
}

/** Returns a path with a query; members that are null or empty are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const present = Object.entries(query).filter(([, value]) => value !== null && value !== '');
  const text = present.map(([name, value]) => `${name}=${encodeURIComponent(well(String(value)))}`).join('&');
  return text === '' ? path : `${path}?${text}`;
}

/** Replaces halves of surrogate pairs, which cannot be encoded. */
function well(text: string): string {
  return text.toWellFormed();
}

/** Links to the repository of the manifests. Null where the forge is not known, or has no page over https. */
export interface ForgeLinks {
  commit(commit: string): string | null;
  /** Page of a file at a commit, at a line from 1. */
  file(commit: string | null, file: string, line: number): string | null;
}

interface Forge {
  /** Part of the host's name by which it is recognized. */
  readonly host: RegExp;
  readonly commit: string;
  readonly file: string;
  readonly line: string;
}

const FORGES: readonly Forge[] = [
  { host: /(?:^|\.)github\.|^github-/, commit: 'commit', file: 'blob', line: '#L' },
  { host: /(?:^|\.)gitlab\.|^gitlab-/, commit: '-/commit', file: '-/blob', line: '#L' },
  { host: /^bitbucket\.org$/, commit: 'commits', file: 'src', line: '#lines-' },
  { host: /(?:^|\.)(?:gitea|forgejo)\.|^codeberg\.org$/, commit: 'commit', file: 'src/commit', line: '#L' },
];

const NO_LINKS: ForgeLinks = { commit: () => null, file: () => null };
/** Commit ids of SHA-1 and SHA-256. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Returns the links for a source of manifests. Credentials in its URL are left out. */
export function forgeLinks(source: ManifestSource | null): ForgeLinks {
  const repository = source?.git === undefined ? null : webUrl(source.git.url);
  const forge = repository === null ? undefined : FORGES.find(({ host }) => host.test(repository.hostname));
  if (source?.git === undefined || repository === null || forge === undefined) {
    return NO_LINKS;
  }
  const { path } = source.git;
  const base = repository.href.replace(/\/$/, '');
  return {
    commit: (commit) => (COMMIT.test(commit) ? `${base}/${forge.commit}/${commit}` : null),
    file: (commit, file, line) => {
      const inside = posix.normalize(posix.join(path, file));
      if (commit === null || !COMMIT.test(commit) || inside.startsWith('../')) {
        return null;
      }
      const segments = inside.split('/').map((segment) => encodeURIComponent(segment.toWellFormed()));
      return `${base}/${forge.file}/${commit}/${segments.join('/')}${forge.line}${line}`;
    },
  };
}

/** Returns the address of a repository's page, from a URL for git over https or ssh. */
function webUrl(text: string): URL | null {
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(?!\d+\/)(.+)$/.exec(text);
  const url = scp === null ? URL.parse(text) : URL.parse(`https://${scp[1]}/${scp[2]}`);
  if (url === null || !['https:', 'ssh:'].includes(url.protocol) || !/^[\w.-]+$/.test(url.hostname)) {
    return null;
  }
  const path = url.pathname.replace(/\.git\/?$/, '').replace(/\/+$/, '');
  const port = url.protocol === 'https:' ? url.port : '';
  return URL.parse(`https://${url.hostname}${port === '' ? '' : `:${port}`}${path}`);
}
