/** Publishes the plan on the pull request of a CI job, for `octavo plan --comment`. */
import { appendFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readFlag } from '../../config/values.ts';
import type { Plan } from '../../core/change.ts';
import type { Clock } from '../../core/clock.ts';
import { AuthError, ConfigError, messageOf, RejectedError } from '../../core/errors.ts';
import { ROOT_SCOPE } from '../../core/scope.ts';
import { encodedPath } from '../../core/url.ts';
import { type CiJob, findJob, type PullRequest } from '../../forge/ci-job.ts';
import { failureComment, failureStatus, type Marker, planComment, planStatus, publish } from '../../forge/comment.ts';
import type { CommitStatus } from '../../forge/forge.ts';
import { openForge } from '../../forge/open-forge.ts';
import { withRetries } from '../../forge/requests.ts';
import { mergeBase } from '../../git/commits.ts';
import { readHead } from '../../git/work-tree.ts';
import type { MarkdownPlace } from '../../plan/render/markdown.ts';
import type { Approval } from '../../plan/render/text-layout.ts';
import { createRedactor } from '../../redact.ts';
import { chooseOrganization, readConfigWithoutSecrets } from '../cli/config.ts';
import { type CommandContext, interruptibleClock } from '../cli/context.ts';
import { folderInRepository, scopeAt } from './desired.ts';
import { scopeOf } from './planning.ts';

/** Length limit of a job summary in characters: forges accept 1 MiB, and a character has up to four bytes. */
const MAX_SUMMARY_LENGTH = 250_000;

interface ConfigFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly scope?: string;
}

/** The pull request that a CI job runs for. */
interface PlanComment {
  /** Returns the base where `--base` is not given; undefined if the job is not for a pull request. */
  base(folder: string): Promise<string | undefined>;
  /** Publishes the plan. Returns false if that failed although the token has the permission. */
  show(plan: Plan, folder: string, approvalFor: Approval): Promise<boolean>;
  /** Publishes why there is no plan, so that the plan of an earlier commit is not mistaken for it. Never throws. */
  showFailure(error: unknown, folder: string, flags: ConfigFlags): Promise<void>;
}

/** Finds the pull request of this job. Throws ConfigError outside of a CI job. */
export async function openPlanComment(context: CommandContext): Promise<PlanComment> {
  const { terminal, secrets } = context;
  const job = await findJob(terminal.env, (path) => readFile(path, 'utf8'));
  if (job.label === null) {
    throw new ConfigError(
      '--comment requires a pull request job of GitHub, Gitea or Forgejo Actions, GitLab CI or Bitbucket Pipelines',
    );
  }
  const { pull } = job;
  if (pull === null) {
    terminal.err(`No comment: this ${job.label} job is not for a pull request.\n`);
    return { base: async () => undefined, show: async () => true, showFailure: async () => undefined };
  }
  secrets?.add(pull.token ?? '');
  // The job need not have the configuration of the daemon.
  const isByComment = readFlag(terminal.env.OCTAVO_APPROVE_BY_COMMENT) === true;
  const publisher: Publisher = { job, pull, context, clock: interruptibleClock(context) };
  return {
    base: (folder) => findBase(resolve(terminal.cwd, folder), pull),
    show: async (plan, folder, approvalFor) => {
      const inside = await folderInRepository(resolve(terminal.cwd, folder));
      const prefix = inside === ROOT_SCOPE ? '' : `${encodedPath(inside)}/`;
      const filesUrl = pull.filesUrl === null ? null : `${pull.filesUrl}${prefix}`;
      return show(publisher, plan, planStatus(plan), (marker, place) =>
        planComment(plan, marker, { ...place, filesUrl }, pull.head, { ...approvalFor, isByComment }),
      );
    },
    showFailure: async (error, folder, flags) => {
      const of = await readOwner(folder, flags, context);
      if (of !== null) {
        const message = createRedactor(secrets ?? [])(messageOf(error));
        await show(publisher, of, failureStatus(of), (marker, place) =>
          failureComment(message, pull.head, marker, place),
        );
      }
    },
  };
}

async function findBase(folder: string, { base }: PullRequest): Promise<string | undefined> {
  const head = base === null ? null : await readHead(folder);
  if (base === null || head === null) {
    return undefined;
  }
  const commit = await mergeBase(head.root, base, 'HEAD');
  if (commit === null) {
    throw new ConfigError(
      `this clone lacks ${base}, the base commit of the pull request, or its history; ` +
        'clone the full history (fetch-depth: 0, GIT_DEPTH: 0), or pass --base',
    );
  }
  return commit;
}

/** Reads the organization and scope without secrets: anyone's pull request can trigger this, and the id is published. */
async function readOwner(folder: string, flags: ConfigFlags, context: CommandContext): Promise<PlanOwner | null> {
  try {
    const config = await readConfigWithoutSecrets(flags.config, flags.organization ?? '', context, folder);
    const organization = chooseOrganization(config, flags.organization);
    const scope = scopeOf(flags, organization) ?? (await scopeAt(resolve(context.terminal.cwd, folder)));
    return { organization: organization.id, scope };
  } catch {
    // The command itself reports what is wrong with the configuration.
    return null;
  }
}

/** The organization and scope that a comment and a status belong to. */
type PlanOwner = Pick<Plan, 'organization' | 'scope'>;

/** The job, the pull request and the context of a published plan. */
interface Publisher {
  readonly job: CiJob;
  readonly pull: PullRequest;
  readonly context: CommandContext;
  readonly clock: Clock;
}

/** Publishes a plan as comment and commit status of one pull request, or in the job summary. */
async function show(
  publisher: Publisher,
  { organization, scope }: PlanOwner,
  status: CommitStatus,
  body: (marker: Marker, place: Omit<MarkdownPlace, 'filesUrl'>) => string,
): Promise<boolean> {
  const { pull, clock, context } = publisher;
  const { terminal, signal, version } = context;
  const { token, tokenVariable, runUrl, run, number } = pull;
  const marker = { organization, scope, run };
  const summary = () => body(marker, { maxLength: MAX_SUMMARY_LENGTH, runUrl });
  const forge = token === null ? null : openForge(pull, token, signal, `octavo/${version}`);
  if (forge === null) {
    const reason = pull.forge === 'bitbucket' ? 'Octavo does not comment on Bitbucket' : `${tokenVariable} is not set`;
    await showInstead(publisher, reason, summary());
    return true;
  }
  let isShown = true;
  try {
    const published = await publish(forge, marker, body(marker, { maxLength: forge.maxLength, runUrl }), clock);
    terminal.err(
      published === 'outdated'
        ? `A later run has already commented on pull request ${number}; its comment was kept.\n`
        : `The comment on pull request ${number} at ${forge.label} was ${published}.\n`,
    );
  } catch (error) {
    await showInstead(publisher, messageOf(error), summary());
    isShown = isMissingPermission(error);
  }
  await withRetries(clock, () => forge.setStatus(status)).catch((error: unknown) => {
    terminal.err(`No commit status: ${messageOf(error)}.\n`);
  });
  return isShown;
}

/** Reports why there is no comment, and writes the plan to the job summary if there is one. */
async function showInstead({ job, context }: Publisher, reason: string, markdown: string): Promise<void> {
  const { terminal } = context;
  if (job.summaryFile === null) {
    terminal.err(`No comment: ${reason}. The plan is in the output of this job.\n`);
    return;
  }
  try {
    await appendFile(job.summaryFile, `${markdown}\n`);
    terminal.err(`No comment: ${reason}. The plan is in the job summary instead.\n`);
  } catch (error) {
    terminal.err(`No comment: ${reason}. No job summary: ${messageOf(error)}.\n`);
  }
}

/** Forges respond with 404 to a token without permission. */
function isMissingPermission(error: unknown): boolean {
  return error instanceof AuthError || (error instanceof RejectedError && error.status === 404);
}
