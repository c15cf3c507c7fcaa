import type { Forge } from './forge.ts';
import { openGitea } from './gitea.ts';
import { openGitHub } from './github.ts';
import { openGitLab } from './gitlab.ts';
import type { PullRequest } from './pull-request.ts';

/** Opens a pull request at its forge; null if Octavo does not support comments there. */
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
