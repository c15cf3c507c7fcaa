import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { ConversationsConfig } from '../../config/conversations.ts';
import { EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { openReader, type Reader } from '../../platform/client.ts';
import { ConversationsProbe, isMissingOperation } from '../../platform/conversations-probe.ts';
import { operations } from '../../platform/operations/index.ts';
import type { BudgetSnapshot } from '../../queue/snapshot.ts';
import { ownUser } from '../../reconcile/observe.ts';
import { readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { type PlatformSession, withPlatform } from '../cli/session.ts';
import { paintFor } from '../cli/terminal.ts';
import { FEATURES, type Finding, good, linkListings, note, siteFindings } from './feature-checks.ts';
import { webhookFinding } from './webhook-check.ts';

/** Runs `octavo doctor`: checks the connection, the permissions of the token and the features of the platform. */
export async function doctorCommand(flags: { readonly config?: string }, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const config = await readConfig(flags.config, context);
  const paint = paintFor(terminal.isOutTerminal, terminal.env);
  let exit: ExitCode = EXIT.done;
  for (const organization of config.organizations) {
    terminal.out(`${paint.strong(`${organization.id} at ${config.platform.baseUrl}`)}\n`);
    const findings = [
      ...(await withPlatform(config, organization, context, (session) => runChecks(config, organization, session))),
      ...(await webhookFinding(config, organization, {
        isTrusted: flags.config !== undefined,
        version: context.version,
      })),
    ];
    for (const finding of findings) {
      terminal.out(`  ${label(finding, paint)} ${finding.what.padEnd(14)} ${finding.detail}\n`);
      exit = finding.verdict === 'bad' ? EXIT.failed : exit;
    }
  }
  return exit;
}

function label({ verdict }: Finding, paint: Paint): string {
  return { good: paint.create('ok  '), warn: paint.change('note'), bad: paint.remove('bad ') }[verdict];
}

async function runChecks(
  config: Config,
  organization: OrganizationConfig,
  { connection, signal, explain }: PlatformSession,
): Promise<readonly Finding[]> {
  const reader = openReader(connection, { organization: organization.id, priority: 'person', signal });
  const check = async (what: string, run: () => Promise<Finding | readonly Finding[]>): Promise<readonly Finding[]> => {
    try {
      return [await run()].flat();
    } catch (error) {
      return [{ verdict: 'bad', what, detail: messageOf(explain(error)) }];
    }
  };
  const platform = await check('platform', async () =>
    good('platform', versionWords(await reader.get(operations.getVersion))),
  );
  const token = await check('token', async () =>
    good('token', organizationWords(await reader.get(operations.getOrganization))),
  );
  if (token.some(({ verdict }) => verdict === 'bad')) {
    return [...platform, ...token];
  }
  const probe = new ConversationsProbe();
  const findings = await Promise.all([
    check('permissions', () => checkPermissions(reader, organization, probe)),
    check('platform.user', () => checkUser(config, reader)),
    check('sites', () => siteFindings(reader)),
    ...FEATURES.map((each) => each(reader)),
    check('conversations', () => conversationFindings(reader, organization.conversations, probe)),
    check('link listings', () => linkListings(reader)),
  ]);
  const { clockSkew, budgets } = connection.queue.snapshot();
  return [...platform, ...token, checkClock(clockSkew), rateLimitFinding(budgets), ...findings.flat()];
}

function versionWords({
  version,
  build,
}: {
  readonly version?: string | null;
  readonly build?: string | null;
}): string {
  return `reachable${version ? `, version ${version}` : ''}${build ? ` (${build})` : ''}`;
}

function organizationWords({ title }: { readonly title: string }): string {
  return `accepted, for ${title}`;
}

async function checkPermissions(
  reader: Reader,
  { source, conversations, clusters }: OrganizationConfig,
  probe: ConversationsProbe,
): Promise<Finding> {
  const { permissions } = await reader.get(operations.getOrganization);
  const what = 'permissions';
  if (permissions === null || permissions === undefined) {
    return { verdict: 'warn', what, detail: 'the platform does not report the permissions of the token' };
  }
  // Context records, which replace conversations, need no separate permission.
  const ingests = conversations.sources.length > 0 && (await probe.has(reader)) ? ['ingestConversations'] : [];
  const isWithoutManifests = source === null && (conversations.sources.length > 0 || clusters.enabled);
  const drafts = clusters.enabled ? ['createContent'] : [];
  const own = isWithoutManifests ? drafts : ['admin', 'createContent', 'listMembers', 'listTeams'];
  const needed = [...own, ...ingests];
  const missing = needed.filter((name) => permissions[name] === false);
  return missing.length === 0
    ? { verdict: 'good', what, detail: 'the token has all permissions that Octavo needs' }
    : { verdict: 'bad', what, detail: `the token lacks: ${missing.join(', ')}` };
}

/** Checks that the user of the token is known; otherwise plans that lock it out cannot be refused. */
async function checkUser(config: Config, reader: Reader): Promise<Finding> {
  const what = 'platform.user';
  const caller = await ownUser(reader);
  const user = config.platform.user ?? caller;
  if (user === null) {
    const detail =
      'not set, and the platform does not report the owner of the token; set it to the email of that user, so that no plan can lock it out';
    return { verdict: 'warn', what, detail };
  }
  if (caller !== null && caller.toLowerCase() !== user.toLowerCase()) {
    const detail = `${user} is configured, but the token belongs to ${caller}; plans can lock that user out`;
    return { verdict: 'warn', what, detail };
  }
  for await (const member of reader.pages(operations.listMembers, { query: { search: user } })) {
    if (member.user?.email?.toLowerCase() === user.toLowerCase()) {
      return { verdict: 'good', what, detail: `${user}, ${member.role ?? 'guest'}` };
    }
  }
  return { verdict: 'bad', what, detail: `${user} is not a member of the organization` };
}

function checkClock(ahead: number | null): Finding {
  const what = 'clock';
  if (ahead === null) {
    return { verdict: 'warn', what, detail: 'the platform does not report its time' };
  }
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return seconds <= 2
    ? { verdict: 'good', what, detail: 'within 2 s of the platform clock' }
    : {
        verdict: 'warn',
        what,
        detail: `${seconds} s ${ahead > 0 ? 'behind' : 'ahead of'} the platform clock, which is used for rate limits`,
      };
}

function rateLimitFinding(budgets: readonly BudgetSnapshot[]): Finding {
  const known = budgets.filter((budget) => budget.limit !== null);
  const words = known.map(({ classes, limit, window }) => {
    const span = window === null ? '' : ` in ${Math.round(window / 1000)} s`;
    return `${classes.join(' and ')}: ${limit}${span}`;
  });
  return {
    verdict: 'good',
    what: 'rate limit',
    detail: words.length === 0 ? 'not reported by the platform' : words.join('; '),
  };
}

const WHAT = 'conversations';

/**
 * Reports whether the platform has conversations and issue clusters, or the context records, topics and findings (or
 * issues) of the configured site. Throws AppError. Source: docs/platform-notes.md#changes-by-version
 */
async function conversationFindings(
  reader: Reader,
  { site, sources }: ConversationsConfig,
  probe: ConversationsProbe,
): Promise<readonly Finding[]> {
  if (await probe.has(reader)) {
    return [good(WHAT, 'conversations and issue clusters are supported')];
  }
  if (site === null) {
    const waits = sources.length === 0 ? '' : '; until then, conversations wait';
    const instead = `set conversations.site to a site that takes context records instead${waits}`;
    return [note(WHAT, `not supported by this platform (removed in 0.167); ${instead}`)];
  }
  const path = { siteId: site };
  if (!(await isThere(reader.get(operations.listSiteTopics, { path })))) {
    const known = 'a manifest key resolves only in the daemon that applied it';
    return [note(WHAT, `not supported by this platform, and no site has the id ${JSON.stringify(site)}; ${known}`)];
  }
  const query = { limit: 1 };
  const kinds = [
    ['findings', () => reader.get(operations.listSiteFindings, { path, query })],
    ['issues', () => reader.get(operations.listSiteIssues, { path, query })],
  ] as const;
  const found = good(WHAT, `context records of the site ${site}, and its topics for issue clusters`);
  for (const [name, read] of kinds) {
    if (await isThere(read())) {
      return [found, good('topics', `the ${name} of the site report their impact`)];
    }
  }
  return [found, note('topics', 'the site lists neither findings nor issues, so the impact of topics is unknown')];
}

async function isThere(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (isMissingOperation(error)) {
      return false;
    }
    throw error;
  }
}
