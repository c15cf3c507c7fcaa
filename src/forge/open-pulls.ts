import { openGiteaPulls } from './gitea-pulls.ts';
import { openGitHubPulls } from './github-pulls.ts';
import { openGitLabPulls } from './gitlab-pulls.ts';
import type { Pulls } from './pulls.ts';
import type { ForgeRepository } from './repository.ts';

/** Opens the pull requests of a repository. */
export function openPulls(at: ForgeRepository, token: string, signal: AbortSignal, userAgent: string): Pulls {
  switch (at.forge) {
    case 'github':
      return openGitHubPulls(at, token, signal, userAgent);
    case 'gitlab':
      return openGitLabPulls(at, token, signal);
    case 'gitea':
      return openGiteaPulls(at, token, signal);
  }
}
