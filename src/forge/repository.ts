import {
  type Environment,
  gitlabToken,
  isGiteaJob,
  isSet,
  isWorkflowJob,
  link,
  NUMBER,
  REPOSITORY,
  URL_TEXT,
  variable,
  workflowRun,
  workflowToken,
} from './ci-variables.ts';
import type { ForgeName } from './pull-request.ts';

/** The repository that a CI job runs in, at its forge. */
export interface ForgeRepository {
  readonly forge: Exclude<ForgeName, 'bitbucket'>;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** `owner/name`; at GitLab the project's number. */
  readonly repository: string;
  /** Page of the job; null if unknown. */
  readonly runUrl: string | null;
  readonly token: string | null;
  /** Variable that should contain the token. */
  readonly tokenVariable: string;
}

/**
 * Detects the repository of any CI job; null outside of one, and for Bitbucket, where no pull requests are opened.
 *
 * @throws ConfigError if the variables of a forge contradict each other
 */
export function findRepository(env: Environment): ForgeRepository | null {
  if (isSet(env.GITLAB_CI)) {
    return {
      forge: 'gitlab',
      apiUrl: variable('GitLab CI', env, 'CI_API_V4_URL', URL_TEXT),
      repository: String(variable('GitLab CI', env, 'CI_PROJECT_ID', NUMBER)),
      runUrl: link(env.CI_JOB_URL),
      ...gitlabToken(env),
    };
  }
  if (isWorkflowJob(env)) {
    const forge = isGiteaJob(env) ? 'gitea' : 'github';
    const label = forge === 'gitea' ? 'Gitea Actions' : 'GitHub Actions';
    const repository = variable(label, env, 'GITHUB_REPOSITORY', REPOSITORY);
    return {
      forge,
      apiUrl: variable(label, env, 'GITHUB_API_URL', URL_TEXT),
      repository,
      runUrl: workflowRun(env, repository),
      ...workflowToken(env),
    };
  }
  return null;
}
