import { z } from 'zod';
import { ConfigError } from '../core/errors.ts';
import { withoutTrailingSlashes } from '../core/trim.ts';

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const REPOSITORY = z.string().regex(/^[\w.-]+\/[\w.-]+$/);
export const NUMBER = z.coerce.number().int().positive();
/** URL without a trailing slash. */
export const URL_TEXT = z.url({ protocol: /^https?$/ }).transform((url) => withoutTrailingSlashes(url));

export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

/** Returns whether a workflow of GitHub, Gitea or Forgejo runs. */
export function isWorkflowJob(env: Environment): boolean {
  return isSet(env.GITHUB_ACTIONS) || isSet(env.GITEA_ACTIONS) || isSet(env.FORGEJO_ACTIONS);
}

/** Returns whether a workflow of Gitea or Forgejo runs. */
export function isGiteaJob(env: Environment): boolean {
  return isSet(env.GITEA_ACTIONS) || isSet(env.FORGEJO_ACTIONS) || /\/api\/v1\/?$/.test(env.GITHUB_API_URL ?? '');
}

/** Returns the page of a workflow run. */
export function workflowRun(env: Environment, repository: string): string | null {
  const server = isSet(env.GITHUB_SERVER_URL) ? withoutTrailingSlashes(env.GITHUB_SERVER_URL) : null;
  // Gitea and Forgejo count the runs of each repository for their pages.
  const run = (isGiteaJob(env) && isSet(env.GITHUB_RUN_NUMBER) ? env.GITHUB_RUN_NUMBER : env.GITHUB_RUN_ID) ?? '';
  return link(server === null ? undefined : `${server}/${repository}/actions/runs/${run}`);
}

/** Token, and the variable that contains it. */
interface FoundToken {
  readonly token: string | null;
  readonly tokenVariable: string;
}

/** The token of a workflow. */
export function workflowToken(env: Environment): FoundToken {
  return tokenOf(env, isGiteaJob(env) ? ['GITEA_TOKEN', 'GITHUB_TOKEN'] : ['GITHUB_TOKEN'], 'GITHUB_TOKEN');
}

/** Returns the token of a GitLab job. The predefined job token may neither write comments nor open merge requests. */
export function gitlabToken(env: Environment): FoundToken {
  return tokenOf(env, ['GITLAB_TOKEN'], 'OCTAVO_FORGE_TOKEN');
}

/** Returns the token. `OCTAVO_FORGE_TOKEN` takes precedence over the variables of the forge. */
export function tokenOf(env: Environment, names: readonly string[], tokenVariable: string): FoundToken {
  const found = ['OCTAVO_FORGE_TOKEN', ...names].map((name) => env[name]).find(isSet);
  return { token: found ?? null, tokenVariable };
}

/** Returns a link that is safe in Markdown; null for anything else. */
export function link(url: string | undefined): string | null {
  return url !== undefined && /^https?:\/\/[\w.:/~-]+$/.test(url) ? url : null;
}

/** Returns a required variable. Throws ConfigError. */
export function variable<T>(label: string, env: Environment, name: string, schema: z.ZodType<T>): T {
  const { success, data } = schema.safeParse(env[name]);
  if (!success) {
    throw new ConfigError(`${label} sets no ${name} that can be used`);
  }
  return data;
}
