/** Commands that print what the web page of the running daemon shows, as text or as the JSON of its pages. */
import type { Config } from '../../config/config.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { append } from '../../core/lists.ts';
import { counted, printable, shortApproval, spanWords } from '../../plan/render/words.ts';
import { configurationDetail, configurationHead, PARTIAL_EFFECT } from '../../web/model/configuration.ts';
import type { OrganizationStatus } from '../../web/model/status.ts';
import type { AuditView } from '../../web/pages/audit.ts';
import type { ConditionsView } from '../../web/pages/conditions.ts';
import type { ConversationsView } from '../../web/pages/conversations.ts';
import type { OrganizationView } from '../../web/pages/organization.ts';
import type { OrganizationsView } from '../../web/pages/organizations.ts';
import type { PassesView } from '../../web/pages/passes.ts';
import type { ClustersView } from '../../web/pages/questions.ts';
import type { ReplicasView } from '../../web/pages/replicas.ts';
import { chooseOrganization, readTrustedConfig } from '../cli/config.ts';
import { type CommandContext, printResult } from '../cli/context.ts';
import { askDaemon, type StateFlags } from '../cli/control-call.ts';
import { shortAge, table } from '../cli/table.ts';
import { nextCommand } from '../plan/next-command.ts';

/** Exit code by state of an organization. */
const EXIT_OF: Readonly<Record<OrganizationStatus, ExitCode>> = {
  unowned: EXIT.failed,
  failed: EXIT.failed,
  stale: EXIT.failed,
  held: EXIT.held,
  paused: EXIT.held,
  waiting: EXIT.held,
  applying: EXIT.pending,
  unknown: EXIT.pending,
  'in-sync': EXIT.done,
  unmanaged: EXIT.done,
};
/** Exit codes, worst first. */
const WORST: readonly ExitCode[] = [EXIT.failed, EXIT.held, EXIT.pending];

/** Prints the state of all organizations, or of one. Returns the worst of their exit codes. */
export async function statusCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const [first, second] = config.organizations;
  const only = second === undefined && config.invalidFiles.length === 0 ? first?.id : undefined;
  const id = flags.organization ?? only;
  return id === undefined ? showAll(config, flags, context) : showOne(id, config, flags, context);
}

async function showAll(config: Config, flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const first = await loadPage<OrganizationsView>('/', config, context);
  const organizations = [...first.organizations];
  for (let { next } = first; next !== null; ) {
    const page = await loadPage<OrganizationsView>(`/?after=${encodeURIComponent(next)}`, config, context);
    append(organizations, page.organizations);
    next = page.next;
  }
  const rows = organizations.map(({ id, state, freshness: { ageSeconds }, commit, sentence }) => [
    id,
    state,
    shortAge(ageSeconds === null ? null : ageSeconds * 1000),
    commit?.slice(0, 7) ?? '-',
    sentence,
  ]);
  printResult(context, flags.format, { ...first, organizations, next: null }, [
    ...table(['ORGANIZATION', 'STATE', 'CHECKED', 'COMMIT', 'MEANING'], rows, context.terminal),
    ...organizations.flatMap(({ id, approval }) => approvalLine(approval, id, flags)),
  ]);
  const codes = organizations.map(({ state }) => EXIT_OF[state]);
  return WORST.find((code) => codes.includes(code)) ?? EXIT.done;
}

async function showOne(id: string, config: Config, flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const path = pathOf(id);
  const organization = await loadPage<OrganizationView>(path, config, context);
  const conversations = await loadPage<ConversationsView>(`${path}/conversations`, config, context);
  const clusters = await loadPage<ClustersView>(`${path}/questions`, config, context);
  const { webhook, nextCheck, approval, sentence, waiting, state } = organization;
  printResult(context, flags.format, { organization, conversations, clusters }, [
    line([`${id}:`, sentence]),
    ...waiting.filter(({ text }) => !sentence.startsWith(text)).map(({ text }) => line(['waits for a person:', text])),
    ...approvalLine(approval, id, flags),
    ...(nextCheck === null ? [] : [`next check: in ${shortAge(Date.parse(nextCheck) - context.clock.now())}`]),
    ...(webhook === null
      ? []
      : [
          line(['webhook:', webhook.lastAt === null ? '' : `${ageOf(webhook.lastAt, context)} ago,`, webhook.sentence]),
        ]),
    ...(conversations.isConfigured ? [line(['conversations:', conversations.sentence])] : []),
    ...(clusters.isEnabled ? [line(['clusters:', clusters.sentence])] : []),
  ]);
  return EXIT_OF[state];
}

/** Prints what people did, newest first: of all organizations, or of one. */
export async function auditCommand(
  flags: StateFlags & { readonly before?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const path = `${flags.organization === undefined ? '' : pathOf(flags.organization)}/audit`;
  const view = await loadPage<AuditView>(`${path}${queryOf('before', flags.before)}`, config, context);
  const rows = view.entries.map(({ at, actor, organization, action, subject, outcome, detail, reason }) => [
    at.slice(0, 16).replace('T', ' '),
    ageOf(at, context),
    `${actor.name || 'unknown'} (${actor.method})`,
    organization,
    action,
    subject.startsWith('sha256:') ? shortApproval(subject) : subject,
    outcome,
    line([detail, reason]),
  ]);
  const headings = ['TIME (UTC)', 'AGE', 'WHO', 'ORGANIZATION', 'ACTION', 'SUBJECT', 'OUTCOME', 'REASON'];
  printResult(context, flags.format, view, [
    ...(rows.length === 0 ? ['nobody has asked for anything yet'] : table(headings, rows, context.terminal)),
    ...(view.next === null ? [] : [`older entries: --before ${view.next}`]),
  ]);
  return EXIT.done;
}

/** Prints the passes of an organization, newest first. */
export async function historyCommand(
  flags: StateFlags & { readonly before?: number },
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const { id } = chooseOrganization(config, flags.organization);
  const path = `${pathOf(id)}/history${queryOf('before', flags.before)}`;
  const view = await loadPage<PassesView>(path, config, context);
  const passes = view.commits.flatMap((commit) => commit.passes);
  const [newest] = passes;
  const rows = passes.map(({ endedAt, number, times, outcome, commit, summary, subject, error }) => [
    ageOf(endedAt, context),
    number,
    times === 1 ? '' : times,
    outcome,
    commit?.slice(0, 7),
    summary === 'none' ? '' : summary,
    error ?? subject,
  ]);
  printResult(context, flags.format, view, [
    ...(rows.length === 0
      ? ['no pass has ended yet']
      : table(['AGE', 'PASS', 'TIMES', 'OUTCOME', 'COMMIT', 'CHANGES', 'MESSAGE'], rows, context.terminal)),
    ...(newest?.outcome === 'held' ? approvalLine(await approvalOf(id, config, context), id, flags) : []),
    ...(view.next === null ? [] : [`older passes: --before ${view.next}`]),
  ]);
  return EXIT.done;
}

/** Prints the conditions of all organizations, or of one. Returns 1 if one of them fires. */
export async function conditionsCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const view = await loadPage<ConditionsView>(`/alerts${queryOf('organization', flags.organization)}`, config, context);
  printResult(context, flags.format, view, [
    ...(await conditionLines(view, config, flags, context)),
    ...(view.notShown === 0 ? [] : [`${view.notShown} more are not shown`]),
  ]);
  return view.firing.length > 0 ? EXIT.failed : EXIT.done;
}

/** Returns a line for each condition, with its details below it. */
async function conditionLines(
  { firing, pending }: ConditionsView,
  config: Config,
  flags: StateFlags,
  context: CommandContext,
): Promise<readonly string[]> {
  const conditions = [...firing, ...pending];
  if (conditions.length === 0) {
    return ['nothing is wrong'];
  }
  const rows = conditions.map(({ since, state, severity, code, organization, summary, inhibits }) => [
    ageOf(since, context),
    state,
    severity,
    code,
    organization ?? 'all organizations',
    line([summary, inhibits === 0 ? '' : `(explains ${counted(inhibits, 'other condition')})`]),
  ]);
  const headings = ['SINCE', 'STATE', 'SEVERITY', 'CODE', 'ORGANIZATION', 'SUMMARY'];
  const [head = '', ...lines] = table(headings, rows, context.terminal);
  const below: (readonly string[])[] = [];
  for (const { code, organization, details } of conditions) {
    const isHeld = code === 'waiting-for-approval' && organization !== null;
    const approval = isHeld ? approvalLine(await approvalOf(organization, config, context), organization, flags) : [];
    below.push([...details.map((detail) => line([detail])), ...approval]);
  }
  return [head, ...lines.flatMap((each, index) => [each, ...(below[index] ?? []).map((detail) => `  ${detail}`)])];
}

/**
 * Prints the replicas, the organizations without one, and invalid configurations. Returns 1 if there are such organizations or
 * configurations, or if the database fails.
 */
export async function fleetStatusCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const view = await loadPage<ReplicasView>('/replicas', config, context);
  const { replicas, unowned, unownedTotal, configuration } = view;
  const more = unownedTotal - unowned.length;
  printResult(context, flags.format, view, [
    view.sentence,
    ...replicas.map(({ id, address, state, organizations, weight, version, startedAt, seenAt, isThis }) =>
      line([
        ...[id, `(${address})`, state, counted(organizations, 'organization'), `weight ${weight}`],
        ...[`version ${version}`, `started ${startedAt}`, `seen ${seenAt}`, isThis ? '(this replica)' : ''],
      ]),
    ),
    ...unowned.map(({ organization, seconds }) =>
      line([`${organization}: no replica`, seconds === null ? '' : `for ${spanWords(seconds * 1000)}`]),
    ),
    ...(more === 0 ? [] : [`not shown: ${counted(more, 'more organization')} without a replica`]),
    ...configuration.map((each) =>
      line([
        `${configurationHead(each)} since ${each.since}:`,
        `${configurationDetail(each)};`,
        each.isPartial ? PARTIAL_EFFECT : `still running with the configuration of ${each.usedSince}`,
      ]),
    ),
  ]);
  const isFine = unownedTotal === 0 && view.database?.state !== 'failing' && configuration.length === 0;
  return isFine ? EXIT.done : EXIT.failed;
}

/** Prints who is signed in. */
export async function sessionListCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const view = await askDaemon<{
    readonly sessions: readonly {
      readonly name: string | null;
      readonly method: string | null;
      readonly until: string;
    }[];
  }>(config, { command: 'sessions', request: { subcommand: 'list' } }, context);
  const lines = view.sessions.map(({ name, method, until }) => line([String(name), String(method), `until ${until}`]));
  printResult(context, flags.format, view, lines.length === 0 ? ['no sessions'] : lines);
  return EXIT.done;
}

/** Returns the content of a page of the running daemon. Throws ConfigError if none runs, or one of another version. */
function loadPage<V extends object>(path: string, config: Config, context: CommandContext): Promise<V> {
  return askDaemon<V>(config, { command: 'views', path }, context);
}

function pathOf(organization: string): string {
  return `/o/${encodeURIComponent(organization)}`;
}

function queryOf(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : `?${name}=${encodeURIComponent(value)}`;
}

/** Returns the age of a time in ISO 8601. */
function ageOf(at: string, { clock }: CommandContext): string {
  return shortAge(clock.now() - Date.parse(at));
}

/** Returns the checksum whose approval releases what an organization holds, and nothing else; null if it holds nothing. */
async function approvalOf(organization: string, config: Config, context: CommandContext): Promise<string | null> {
  return (await loadPage<OrganizationView>(pathOf(organization), config, context)).approval;
}

/** Returns the command that approves what an organization holds; none without a checksum. */
function approvalLine(checksum: string | null, organization: string, { config }: StateFlags): string[] {
  return checksum === null
    ? []
    : ['approve with:', `  ${nextCommand(['approve', shortApproval(checksum)], { config, organization })}`];
}

/** Joins the parts that are present, without control characters. */
function line(parts: readonly string[]): string {
  return printable(parts.filter((part) => part !== '').join(' '));
}
