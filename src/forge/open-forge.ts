import type { Forge } from './forge.ts';
import { openGitea } from './gitea.ts';
import { openGitHub } from './github.ts';
import { openGitLab } from './gitlab.ts';
import type { PullRequest } from './pull-request.ts';

/** The way to a pull request's forge; null where comments are not supported there. */
export function openForge(pull: PullRequest, token: string, signal: AbortSignal, userAgent: string): Forge | null {
  switch (pull.forge) {
    case 'github':
      return openGitHub(pull, token, signal, userAgent);
    case 'gitlab':
      return openGitLab(pull, token, signal);
    case 'gitea':
      return openGitea(pull, token, signal);
    case 'bitbucket':
      return null;
  }
}
