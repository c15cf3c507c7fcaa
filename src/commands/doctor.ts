/** Checks the connection, the permissions of the token and the features of the platform, for `octavo doctor`. */
import type { Config, OrganizationConfig } from '../config/config.ts';
import type { ConversationsConfig } from '../config/conversations.ts';
import { ConfigError, EXIT, type ExitCode, messageOf, RejectedError, TransientError } from '../core/errors.ts';
import { append } from '../core/lists.ts';
import { type Paint, wrap } from '../plan/render/text-layout.ts';
import { counted, printable } from '../plan/render/words.ts';
import { openReader, type Reader } from '../platform/client.ts';
import { ConversationsProbe, isMissingOperation } from '../platform/conversations-probe.ts';
import {
  isSection,
  isSectionGroup,
  isSiteSpace,
  operations,
  type StructureItem,
} from '../platform/operations/index.ts';
import { allOperations, limitedTo, VERSIONS } from '../platform/operations/table.ts';
import type { BudgetSnapshot } from '../queue/snapshot.ts';
import { ownUser } from '../reconcile/observe.ts';
import { UnknownAnswerError } from '../server/control-client.ts';
import type { OrganizationView } from '../web/pages/organization.ts';
import { readConfig } from './cli/config.ts';
import { type CommandContext, paintFor } from './cli/context.ts';
import { askDaemon } from './cli/control-call.ts';
import { type PlatformSession, withPlatform } from './cli/session.ts';

/** Runs `octavo doctor`: checks the connection, the permissions of the token and the features of the platform. */
export async function doctorCommand(flags: { readonly config?: string }, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const config = await readConfig(flags.config, context);
  const paint = paintFor(terminal.isOutTerminal, terminal.env);
  const all: Finding[] = [];
  for (const organization of config.organizations) {
    terminal.out(`${paint.strong(`${organization.id} at ${config.platform.baseUrl}`)}\n`);
    const findings = [
      ...(await withPlatform({ config, organization }, context, (session) => runChecks(config, organization, session))),
      ...(await webhookFinding(config, organization, flags.config !== undefined, context)),
    ];
    terminal.out(findings.map((finding) => findingLines(finding, paint, terminal.columns)).join(''));
    append(all, findings);
  }
  terminal.out(`\n${paint.strong(conclusion(all))}\n`);
  return all.some(({ verdict }) => verdict === 'bad') ? EXIT.failed : EXIT.done;
}

/** Columns of the verdicts and of what is checked. */
const VERDICT = 9;
const WHAT = 16;

function findingLines({ verdict, what, detail }: Finding, paint: Paint, columns: number): string {
  const word = { good: paint.create('ok'), warn: paint.change('note'), bad: paint.remove('problem') }[verdict];
  const gap = ' '.repeat(VERDICT - { good: 2, warn: 4, bad: 7 }[verdict]);
  const indent = 2 + VERDICT + WHAT;
  const text = wrap(' '.repeat(indent), printable(detail), Math.max(columns, indent + 20), indent);
  return `  ${word}${gap}${what.padEnd(WHAT)}${text.slice(indent)}\n`;
}

/** Says in one line whether a person has to do something. */
function conclusion(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const [problems, notes] = [count('bad'), count('warn')];
  if (problems > 0) {
    return `${counted(problems, 'problem')}: fix ${problems === 1 ? 'it' : 'them'} before you plan or apply`;
  }
  return notes === 0 ? 'Everything works' : `Everything works; ${counted(notes, 'note')} above`;
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
      return [bad(what, messageOf(explain(error)))];
    }
  };
  const platform = await check('Platform', async () => {
    const { version, build } = await reader.get(operations.getVersion);
    const platform = `reachable${version ? `, version ${version}` : ''}${build ? ` (${build})` : ''}`;
    return [good('Platform', platform), good('Operations', operationsOf(version ?? ''))];
  });
  const token = await check('Token', async () => {
    const { title } = await reader.get(operations.getOrganization);
    return good('Token', `accepted, for ${title}`);
  });
  if (token.some(({ verdict }) => verdict === 'bad')) {
    return [...platform, ...token];
  }
  const probe = new ConversationsProbe();
  const findings = await Promise.all([
    check('Permissions', () => checkPermissions(reader, organization, probe)),
    check('Own user', () => checkUser(config, reader)),
    check('Sites', () => siteFindings(reader)),
    // Features that differ between versions of the platform. Source: docs/platform-notes.md#changes-by-version
    feature('Spaces', reader.get(operations.listSpaces, ONE), 'spaces can be listed'),
    feature('OpenAPI', reader.get(operations.listOpenApiSpecs, ONE), 'OpenAPI specifications are supported'),
    feature('Translations', reader.get(operations.listTranslations, ONE), 'translations are supported'),
    feature('Single sign-on', reader.get(operations.listSamlProviders, ONE), 'SAML providers are supported'),
    check('Conversations', () => conversationFindings(reader, organization.conversations, probe)),
    check('Link listings', () => linkListings(reader)),
  ]);
  const { clockSkew, budgets } = connection.queue.snapshot();
  return [...platform, ...token, checkClock(clockSkew), rateLimitFinding(budgets), ...findings.flat()];
}

/** Says how many of the operations of the API a version has. */
function operationsOf(version: string): string {
  const known = allOperations();
  const document = VERSIONS.find((one) => version === one || version.startsWith(`${one}.`));
  const has = known.filter((operation) =>
    document === undefined ? limitedTo(operation) === null : operation.versions.includes(document),
  ).length;
  const where = document === undefined ? `all documents (${VERSIONS.join(' and ')})` : `the document of ${document}`;
  return `${has} of ${known.length} that octavo api knows are in ${where}`;
}

async function checkPermissions(
  reader: Reader,
  { source, conversations, clusters }: OrganizationConfig,
  probe: ConversationsProbe,
): Promise<Finding> {
  const { permissions } = await reader.get(operations.getOrganization);
  const what = 'Permissions';
  if (permissions === null || permissions === undefined) {
    return note(what, 'the platform does not report the permissions of the token');
  }
  // Context records, which replace conversations, need no separate permission.
  const ingests = conversations.sources.length > 0 && (await probe.has(reader)) ? ['ingestConversations'] : [];
  const isWithoutManifests = source === null && (conversations.sources.length > 0 || clusters.enabled);
  const drafts = clusters.enabled ? ['createContent'] : [];
  const own = isWithoutManifests ? drafts : ['admin', 'createContent', 'listMembers', 'listTeams'];
  const needed = [...own, ...ingests];
  const missing = needed.filter((name) => permissions[name] === false);
  return missing.length === 0
    ? good(what, 'the token has all permissions that Octavo needs')
    : bad(what, `the token lacks: ${missing.join(', ')}`);
}

/** Checks that the user of the token is known; otherwise plans that lock it out cannot be refused. */
async function checkUser(config: Config, reader: Reader): Promise<Finding> {
  const what = 'Own user';
  const caller = await ownUser(reader);
  const user = config.platform.user ?? caller;
  if (user === null) {
    return note(
      what,
      'platform.user is not set, and the platform does not report the owner of the token; set it to the email of that user, so that no plan can lock it out',
    );
  }
  if (caller !== null && caller.toLowerCase() !== user.toLowerCase()) {
    return note(what, `${user} is configured, but the token belongs to ${caller}; plans can lock that user out`);
  }
  for await (const member of reader.pages(operations.listMembers, { query: { search: user } })) {
    if (member.user?.email?.toLowerCase() === user.toLowerCase()) {
      return good(what, `${user}, ${member.role ?? 'guest'}`);
    }
  }
  return bad(what, `${user} is not a member of the organization`);
}

function checkClock(ahead: number | null): Finding {
  const what = 'Clock';
  if (ahead === null) {
    return note(what, 'the platform does not report its time');
  }
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return seconds <= 2
    ? good(what, 'within 2 s of the platform clock')
    : note(what, `${seconds} s ${ahead > 0 ? 'behind' : 'ahead of'} the platform clock, which is used for rate limits`);
}

function rateLimitFinding(budgets: readonly BudgetSnapshot[]): Finding {
  const known = budgets.filter((budget) => budget.limit !== null);
  const words = known.map(({ classes, limit, window }) => {
    const span = window === null ? '' : ` in ${Math.round(window / 1000)} s`;
    return `${classes.join(' and ')}: ${limit}${span}`;
  });
  return good('API limits', words.length === 0 ? 'not reported by the platform' : words.join('; '));
}

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
    return [good('Conversations', 'conversations and issue clusters are supported')];
  }
  if (site === null) {
    const waits = sources.length === 0 ? '' : '; until then, conversations wait';
    const instead = `set conversations.site to a site that takes context records instead${waits}`;
    return [note('Conversations', `not supported by this platform (removed in 0.167); ${instead}`)];
  }
  const path = { siteId: site };
  if (!(await isThere(reader.get(operations.listSiteTopics, { path })))) {
    const known = 'a manifest key resolves only in the daemon that applied it';
    return [
      note('Conversations', `not supported by this platform, and no site has the id ${JSON.stringify(site)}; ${known}`),
    ];
  }
  const query = { limit: 1 };
  const kinds = [
    ['findings', () => reader.get(operations.listSiteFindings, { path, query })],
    ['issues', () => reader.get(operations.listSiteIssues, { path, query })],
  ] as const;
  const found = good('Conversations', `context records of the site ${site}, and its topics for issue clusters`);
  for (const [name, read] of kinds) {
    if (await isThere(read())) {
      return [found, good('Topics', `the ${name} of the site report their impact`)];
    }
  }
  return [found, note('Topics', 'the site lists neither findings nor issues, so the impact of topics is unknown')];
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

/** Result of a check. */
interface Finding {
  readonly verdict: 'good' | 'warn' | 'bad';
  readonly what: string;
  readonly detail: string;
}

const finding =
  (verdict: Finding['verdict']) =>
  (what: string, detail: string): Finding => ({ verdict, what, detail });
const good = finding('good');
const note = finding('warn');
const bad = finding('bad');

/** Options of a list whose items do not matter. */
const ONE = { query: { limit: 1 } };

/** Checks a feature by a read, and reports it as missing if that responds with 404. */
async function feature(
  what: string,
  read: Promise<unknown>,
  has: string,
  lacks = 'not supported by this platform',
): Promise<Finding> {
  try {
    await read;
    return good(what, has);
  } catch (error) {
    return error instanceof RejectedError && error.status === 404 ? note(what, lacks) : bad(what, messageOf(error));
  }
}

/** Checks features that only a site shows, on the first site. */
async function siteFindings(reader: Reader): Promise<readonly Finding[]> {
  const [site] = (await reader.get(operations.listSites, ONE)).items;
  if (site === undefined) {
    return [good('Sites', 'the organization has no sites yet')];
  }
  const path = { siteId: site.id };
  const reading = reader.get(operations.getSiteStructure, { path });
  const [sites, groups, items] = await Promise.all([
    feature('Sites', reading, 'a site and its structure can be read'),
    feature(
      'Section groups',
      reader.get(operations.listSiteFindings, { path, ...ONE }),
      'sections join a group through a section update (0.181 and later)',
      'sections join a group through the group operations (before 0.181)',
    ),
    reading.then(
      ({ structure }) => structure,
      () => [],
    ),
  ]);
  const agents = site.agentsContext
    ? good('Agent setting', 'sites have an agent visibility setting')
    : note('Agent setting', 'not supported by this platform (removed in 0.167); leave it out of manifests');
  return [
    sites,
    // Only a write shows which operations exist; the first move in a pass finds out, regardless of this finding.
    groups.verdict === 'warn' ? good(groups.what, groups.detail) : groups,
    agents,
    ...structureFindings(items),
  ];
}

/** Derives features from the items of a site structure. */
function structureFindings(structure: readonly StructureItem[]): readonly Finding[] {
  const items = [...itemsOf(structure)];
  const space = items.find(isSiteSpace);
  const links = items.filter(({ object }) => object === 'site-external-link').length;
  const hidden =
    typeof space?.hidden === 'boolean'
      ? good('Hidden spaces', 'site spaces can be hidden')
      : note('Hidden spaces', 'not reported by the platform; before 0.167 site spaces cannot be hidden');
  const external = `${counted(links, 'external link')} on the first site`;
  return [...(space === undefined ? [] : [hidden]), ...(links === 0 ? [] : [good('External links', external)])];
}

function* itemsOf(items: readonly StructureItem[]): Generator<StructureItem> {
  for (const item of items) {
    yield item;
    if (isSectionGroup(item)) {
      yield* itemsOf(item.children ?? []);
    } else if (isSection(item)) {
      yield* item.siteSpaces ?? [];
    }
  }
}

/** Checks link listings, which only a space has, on the first space. */
async function linkListings(reader: Reader): Promise<readonly Finding[]> {
  const { items } = await reader.get(operations.listSpaces, ONE);
  const spaceId = items[0]?.id;
  if (spaceId === undefined) {
    return [];
  }
  const listing = reader.get(operations.listSpaceLinks, { path: { spaceId }, ...ONE });
  const lacks = 'not supported by this platform (removed in 0.201); not needed by Octavo';
  return [await feature('Link listings', listing, 'links and backlinks can be listed', lacks)];
}

/**
 * Asks the running daemon for the last delivery; empty if no webhook is configured. `isTrusted`: the configuration was
 * named, so its control socket may be opened.
 */
async function webhookFinding(
  config: Config,
  { id, forge }: OrganizationConfig,
  isTrusted: boolean,
  context: CommandContext,
): Promise<readonly Finding[]> {
  if (forge?.webhookSecret === undefined) {
    return [];
  }
  if (!isTrusted) {
    return [note('Webhook', 'configured; pass --config to ask the daemon for the last delivery')];
  }
  try {
    const request = { command: 'views', path: `/o/${encodeURIComponent(id)}` } as const;
    const { webhook } = await askDaemon<OrganizationView>(config, request, context);
    if (webhook === null) {
      return [note('Webhook', 'configured, but not in the running daemon; restart it')];
    }
    return webhook.needsAttention
      ? [note('Webhook', `${webhook.sentence}; octavo webhook ${id} shows what to enter at the forge`)]
      : [good('Webhook', `last delivery at ${webhook.lastAt}: ${webhook.sentence}`)];
  } catch (error) {
    if (error instanceof UnknownAnswerError) {
      return [note('Webhook', error.message)];
    }
    if (error instanceof ConfigError || error instanceof TransientError) {
      return [note('Webhook', 'configured; deliveries arrive while the daemon runs')];
    }
    throw error;
  }
}
