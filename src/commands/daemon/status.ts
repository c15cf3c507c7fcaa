/** Commands that print what the web page of the running daemon shows: status, audit and history. */

import { EXIT, type ExitCode } from '../../core/errors.ts';
import { append } from '../../core/lists.ts';
import type { OrganizationStatus } from '../../web/model/status.ts';
import type { OrganizationsView } from '../../web/pages/organizations.ts';
import { VIEWS } from '../cli/answers.ts';
import { chooseOrganization, readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { shortAge, table } from '../cli/table.ts';
import { ageOf, approvalLine, line, openViews, print, type ViewFlags, type Views } from './views.ts';

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
const WORST: readonly ExitCode[] = [EXIT.failed, EXIT.held, EXIT.pending, EXIT.done];

/** Prints the state of all organizations, or of one. Returns the worst of their exit codes. */
export async function statusCommand(flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const views = await openViews(flags, context);
  const { organization = views.only } = flags;
  return organization === null ? showAll(views, flags, context) : showOne(views, organization, flags, context);
}

/** Prints what people did, newest first: of all organizations, or of one. */
export async function auditCommand(
  flags: ViewFlags & { readonly before?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const { load } = await openViews(flags, context);
  const before = flags.before === undefined ? '' : `?before=${encodeURIComponent(flags.before)}`;
  const path = flags.organization === undefined ? '/audit' : `${pathOf(flags.organization)}/audit`;
  const view = await load(`${path}${before}`, VIEWS.audit);
  print(view, flags, context, () => [
    ...(view.entries.length === 0
      ? ['nobody has asked for anything yet']
      : table(
          ['TIME (UTC)', 'AGE', 'WHO', 'ORGANIZATION', 'ACTION', 'SUBJECT', 'OUTCOME', 'REASON'],
          view.entries.map(({ at, actor, organization, action, subject, outcome, detail, reason }) => [
            at.slice(0, 16).replace('T', ' '),
            ageOf(at, context),
            `${actor.name || 'unknown'} (${actor.method})`,
            organization,
            action,
            subject,
            outcome,
            line([detail, reason]),
          ]),
        )),
    ...(view.next === null ? [] : [`older entries: --before ${view.next}`]),
  ]);
  return EXIT.done;
}

/** Prints the passes of an organization, newest first. */
export async function historyCommand(
  flags: ViewFlags & { readonly before?: number },
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  const { id } = chooseOrganization(config, flags.organization);
  const { load } = await openViews(flags, context);
  const before = flags.before === undefined ? '' : `?before=${flags.before}`;
  const view = await load(`${pathOf(id)}/passes${before}`, VIEWS.passes);
  const passes = view.commits.flatMap(({ passes }) => passes);
  const [newest] = passes;
  print(view, flags, context, () => [
    ...(passes.length === 0
      ? ['no pass has ended yet']
      : table(
          ['AGE', 'PASS', 'TIMES', 'OUTCOME', 'COMMIT', 'CHANGES', 'MESSAGE'],
          passes.map(({ endedAt, number, times, outcome, commit, summary, subject, error }) => [
            ageOf(endedAt, context),
            number,
            times === 1 ? '' : times,
            outcome,
            commit?.slice(0, 7),
            summary === 'none' ? '' : summary,
            error ?? subject,
          ]),
        )),
    ...(newest?.outcome === 'held' ? approvalLine(newest.checksum, id, flags) : []),
    ...(view.next === null ? [] : [`older passes: --before ${view.next}`]),
  ]);
  return EXIT.done;
}

async function showAll({ load }: Views, flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const first = await load('/', VIEWS.organizations);
  const organizations = [...first.organizations];
  for (let { next } = first; next !== null; ) {
    const page = await load(`/?after=${encodeURIComponent(next)}`, VIEWS.organizations);
    append(organizations, page.organizations);
    next = page.next;
  }
  const view: OrganizationsView = { ...first, organizations, next: null };
  print(view, flags, context, () =>
    table(
      ['ORGANIZATION', 'STATE', 'CHECKED', 'COMMIT', 'MEANING'],
      organizations.map(({ id, state, freshness, commit, sentence }) => [
        id,
        state,
        freshness.ageSeconds === null ? '-' : shortAge(freshness.ageSeconds * 1000),
        commit?.slice(0, 7) ?? '-',
        sentence,
      ]),
    ).concat(organizations.flatMap(({ id, approval }) => approvalLine(approval, id, flags))),
  );
  return worst(organizations.map(({ state }) => EXIT_OF[state]));
}

async function showOne({ load }: Views, id: string, flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const view = {
    organization: await load(pathOf(id), VIEWS.organization),
    conversations: await load(`${pathOf(id)}/conversations`, VIEWS.conversations),
    clusters: await load(`${pathOf(id)}/clusters`, VIEWS.clusters),
  };
  const { organization, conversations, clusters } = view;
  const { webhook, nextCheck, approval } = organization;
  print(view, flags, context, () => [
    line([`${id}:`, organization.sentence]),
    ...organization.waiting
      .filter(({ text }) => !organization.sentence.startsWith(text))
      .map(({ text }) => line(['waits for a person:', text])),
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
  return EXIT_OF[organization.state];
}

function pathOf(organization: string): string {
  return `/o/${encodeURIComponent(organization)}`;
}

function worst(codes: readonly ExitCode[]): ExitCode {
  return WORST.find((code) => codes.includes(code)) ?? EXIT.done;
}
