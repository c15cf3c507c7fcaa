import type { Config, OrganizationConfig } from '../../config/config.ts';
import { EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { openReader, type Reader } from '../../platform/client.ts';
import { ConversationsProbe } from '../../platform/conversations-probe.ts';
import { operations } from '../../platform/operations/index.ts';
import type { BudgetSnapshot } from '../../queue/model/snapshot.ts';
import { ownUser } from '../../reconcile/observe/own-user.ts';
import { type CommandContext, type PlatformSession, readConfig, withPlatform } from '../cli/setup.ts';
import { paintFor } from '../cli/terminal.ts';
import { conversationFindings } from './context.ts';
import { FEATURES, type Finding, good, linkListings, siteFindings } from './probes.ts';

/** `octavo doctor`: whether the platform can be reached, what the token may do, and what the platform has. */
export async function doctorCommand(flags: { readonly config?: string }, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const config = await readConfig(flags.config, context);
  const paint = paintFor(terminal.isOutTerminal, terminal.env);
  let exit: ExitCode = EXIT.done;
  for (const organization of config.organizations) {
    terminal.out(`${paint.strong(`${organization.id} at ${config.platform.baseUrl}`)}\n`);
    for (const finding of await withPlatform(config, organization, context, (session) =>
      examine(config, organization, session),
    )) {
      terminal.out(`  ${mark(finding, paint)} ${finding.what.padEnd(14)} ${finding.detail}\n`);
      exit = finding.verdict === 'bad' ? EXIT.failed : exit;
    }
  }
  return exit;
}

function mark({ verdict }: Finding, paint: Paint): string {
  return { good: paint.create('ok  '), warn: paint.change('note'), bad: paint.remove('bad ') }[verdict];
}

async function examine(
  config: Config,
  organization: OrganizationConfig,
  { connection, signal, explain }: PlatformSession,
): Promise<readonly Finding[]> {
  const reader = openReader(connection, { organization: organization.id, priority: 'person', signal });
  const ask = async (what: string, look: () => Promise<Finding | readonly Finding[]>): Promise<readonly Finding[]> => {
    try {
      return [await look()].flat();
    } catch (error) {
      return [{ verdict: 'bad', what, detail: messageOf(explain(error)) }];
    }
  };
  const platform = await ask('platform', async () =>
    good('platform', versionWords(await reader.get(operations.getVersion))),
  );
  const token = await ask('token', async () =>
    good('token', organizationWords(await reader.get(operations.getOrganization))),
  );
  if (token.some(({ verdict }) => verdict === 'bad')) {
    return [...platform, ...token];
  }
  const probe = new ConversationsProbe();
  const findings = await Promise.all([
    ask('permissions', () => permissionsOf(reader, organization, probe)),
    ask('platform.user', () => userOf(config, reader)),
    ask('sites', () => siteFindings(reader)),
    ...FEATURES.map((each) => each(reader)),
    ask('conversations', () => conversationFindings(reader, organization.conversations, probe)),
    ask('link listings', () => linkListings(reader)),
  ]);
  const { ahead, budgets } = connection.queue.snapshot();
  return [...platform, ...token, clockOf(ahead), limitOf(budgets), ...findings.flat()];
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

async function permissionsOf(
  reader: Reader,
  { source, conversations, clusters }: OrganizationConfig,
  probe: ConversationsProbe,
): Promise<Finding> {
  const { permissions } = await reader.get(operations.getOrganization);
  const what = 'permissions';
  if (permissions === null || permissions === undefined) {
    return { verdict: 'warn', what, detail: 'the platform does not report the permissions of the token' };
  }
  // Context records, which take the place of conversations, need no permission of their own.
  const ingests = conversations.sources.length > 0 && (await probe.has(reader)) ? ['ingestConversations'] : [];
  const isWithoutManifests = source === null && (conversations.sources.length > 0 || clusters.enabled);
  const drafts = clusters.enabled ? ['createContent'] : [];
  const own = isWithoutManifests ? drafts : ['admin', 'createContent', 'listMembers', 'listTeams'];
  const needed = [...own, ...ingests];
  const lacking = needed.filter((name) => permissions[name] === false);
  return lacking.length === 0
    ? { verdict: 'good', what, detail: 'the token has all permissions that Octavo needs' }
    : { verdict: 'bad', what, detail: `the token lacks: ${lacking.join(', ')}` };
}

/** Only with the user known can a plan be refused that would lock the daemon out. */
async function userOf(config: Config, reader: Reader): Promise<Finding> {
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

function clockOf(ahead: number | null): Finding {
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

function limitOf(budgets: readonly BudgetSnapshot[]): Finding {
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
