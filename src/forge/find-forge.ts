import type { ForgeName } from './pull-request.ts';

/** Files and folders that only one forge reads. */
const SIGNS: readonly (readonly [path: string, forge: ForgeName])[] = [
  ['.gitlab-ci.yml', 'gitlab'],
  ['.gitea', 'gitea'],
  ['.forgejo', 'gitea'],
  ['bitbucket-pipelines.yml', 'bitbucket'],
  ['.github', 'github'],
];

/** Words in the names of the machines that forges run on. */
const HOSTS: readonly (readonly [word: RegExp, forge: ForgeName])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'github'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'gitlab'],
  [/(?:^|[.-])(?:gitea|forgejo|codeberg)(?:[.-]|$)/, 'gitea'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'bitbucket'],
];

/**
 * The forge of a repository: by what is there for its pipelines, else by the name of the machine that it is cloned from.
 * Null where neither tells.
 *
 * @param origin the URL of the remote, also as `git@host:path`; null: there is none
 */
export function findForge(origin: string | null, isThere: (path: string) => boolean): ForgeName | null {
  const sign = SIGNS.find(([path]) => isThere(path));
  if (sign !== undefined) {
    return sign[1];
  }
  const [, host = ''] = /^(?:\w+:\/\/)?(?:[^@/\s]*@)?([\w.-]+)/.exec(origin ?? '') ?? [];
  return HOSTS.find(([word]) => word.test(host.toLowerCase()))?.[1] ?? null;
}
