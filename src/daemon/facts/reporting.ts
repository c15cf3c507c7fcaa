/** Events for notifications, of passes, decisions and change requests, and the names of all reporters of facts. */
import type { ChangeRequestEvent, ClusterEvents } from '../../clusters/events.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { hasCommitStatuses } from '../../notify/status-sender.ts';
import { counted } from '../../plan/render/words.ts';
import type { NewAuditEntry, NewPass } from '../../store/history.ts';
import type { NotificationEvent } from '../../store/notifications.ts';
import { organizationPath, passPath, planPath, shortChecksum, shortCommit } from '../../web/model/words.ts';
import { detailLines, oneLine } from './facts.ts';

/** Returns the reporters of a configuration; facts of others are of earlier ones. */
export function configuredReporters(
  organizations: readonly OrganizationConfig[],
  isDryRun: boolean,
): readonly string[] {
  const ofOrganizations = organizations.flatMap((config) => [
    `organization/${config.id}`,
    `queue/${config.id}`,
    ...(config.source === null ? [] : [`passes/${config.id}`, `plan/${config.id}`]),
    ...(config.conversations.sources.length === 0 ? [] : [`conversations/${config.id}`]),
    ...(config.clusters.enabled ? [`clusters/${config.id}`] : []),
    ...(!isDryRun && hasCommitStatuses(config) ? [`statuses/${config.id}`] : []),
  ]);
  return [...ofOrganizations, 'configuration', 'daemon', 'fleet'];
}

/** Returns the event of a commit that was applied completely; nothing for other passes. `number`: that of the pass. */
export function appliedEvents(organization: string, pass: NewPass, number: number): readonly NotificationEvent[] {
  const { commit, subject, author, counts, changes, checksum, endedAt, outcome } = pass;
  const applied = counts.applied ?? 0;
  const { create = 0, update = 0, move = 0, delete: deleted = 0 } = counts;
  // A pass may fail after it has applied everything, for example because it could not be recorded.
  const isComplete = outcome === 'done' || applied === create + update + move + deleted;
  if (!isComplete || applied === 0) {
    return [];
  }
  const what = `${counted(applied, 'change')} ${applied === 1 ? 'was' : 'were'} applied`;
  const of = commit === null ? '' : `: ${shortCommit(commit)} ${subject}`.trimEnd();
  const by = author === null ? '' : ` by ${author}`;
  const lines = changes.filter(({ status }) => status === 'applied').map((each) => `${each.action} ${each.address}`);
  return [
    {
      // Later passes of the same commit undo manual changes, which is a condition.
      id: `applied/${organization}/${commit ?? checksum}`,
      code: 'applied',
      organization,
      at: endedAt,
      summary: oneLine(`${what}${of}${by}`),
      details: detailLines(lines),
      path: passPath(organization, number),
    },
  ];
}

/** Returns the event of an approval or rejection; nothing for other actions. */
export function decisionEvents(organization: string, entry: NewAuditEntry): readonly NotificationEvent[] {
  const { action, subject, actor, reason, at, outcome } = entry;
  if (outcome !== 'done' || (action !== 'approve' && action !== 'reject')) {
    return [];
  }
  const code = action === 'approve' ? 'approved' : 'rejected';
  const who = actor.name === '' ? 'An unknown person' : actor.name;
  const why = reason === '' ? '' : `: ${reason}`;
  return [
    {
      id: `${code}/${organization}/${subject}/${at}`,
      code,
      organization,
      at,
      summary: oneLine(`${who} ${code} the plan ${shortChecksum(subject)}${why}`),
      details: [],
      path: planPath(organization, subject),
    },
  ];
}

/** Returns a listener that adds an event for each change request of a cluster that is opened or merged. */
export function changeRequestEvents(
  organization: string,
  clock: Pick<Clock, 'now'>,
  add: (event: NotificationEvent) => unknown,
): ClusterEvents {
  const path = organizationPath(organization, '/questions');
  const toEvent = (code: NotificationEvent['code'], { request }: ChangeRequestEvent, summary: string) =>
    add({
      id: `${code}/${organization}/${request}`,
      code,
      organization,
      at: clock.now(),
      summary: oneLine(summary),
      details: [],
      path,
    });
  return {
    onOpened: (opened) =>
      toEvent(
        'change-request-opened',
        opened,
        `A change request was opened for the question ${opened.label}: ${opened.why}`,
      ),
    onMerged: (merged) =>
      toEvent('change-request-merged', merged, `The change request for the question ${merged.label} was merged`),
  };
}
