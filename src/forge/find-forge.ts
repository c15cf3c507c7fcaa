import type { ForgeName } from './pull-request.ts';

/** Files and directories that only one forge reads. */
const SIGNS: readonly (readonly [path: string, forge: ForgeName])[] = [
  ['.gitlab-ci.yml', 'gitlab'],
  ['.gitea', 'gitea'],
  ['.forgejo', 'gitea'],
  ['bitbucket-pipelines.yml', 'bitbucket'],
  ['.github', 'github'],
];

/** Words in the host names of forges. */
const HOSTS: readonly (readonly [word: RegExp, forge: ForgeName])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'github'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'gitlab'],
  [/(?:^|[.-])(?:gitea|forgejo|codeberg)(?:[.-]|$)/, 'gitea'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'bitbucket'],
];

/**
 * Detects the forge of a repository: by its pipeline files, otherwise by the host name of its remote. Null if neither
 * identifies one.
 *
 * @param origin the URL of the remote, also as `git@host:path`; null if there is none
 */
export function findForge(origin: string | null, isThere: (path: string) => boolean): ForgeName | null {
  const sign = SIGNS.find(([path]) => isThere(path));
  if (sign !== undefined) {
    return sign[1];
  }
  const [, host = ''] = /^(?:\w+:\/\/)?(?:[^@/\s]*@)?([\w.-]+)/.exec(origin ?? '') ?? [];
  return HOSTS.find(([word]) => word.test(host.toLowerCase()))?.[1] ?? null;
}
