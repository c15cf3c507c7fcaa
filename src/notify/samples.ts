/** Samples of all conditions and events, for previews and test messages. */
import type { ConditionCode, EventCode } from '../core/condition-codes.ts';
import type { Condition, NotificationEvent } from '../store/notifications.ts';

/** Place that a sample is about. */
export interface SamplePlace {
  readonly organization: string;
  /** Address of the platform. */
  readonly platform: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Text = readonly [summary: string, ...details: string[]];

const CONDITIONS: Readonly<Record<ConditionCode, Text>> = {
  'source-unreadable': ['The manifests cannot be read: the branch main does not exist'],
  'manifests-invalid': [
    'The manifests are invalid (1 problem); the last valid ones stay in use until they are corrected',
    'teams.yaml:12:5: team/docs: title is missing',
  ],
  'pass-failing': ['Passes fail: the platform refused the request (403)'],
  'changes-failing': ['1 of 3 changes failed; Octavo tries again', 'team/docs: the title is too long (400)'],
  'plan-refused': ['The plan is refused and nothing is applied: it deletes 12 resources, and 5 are allowed'],
  'waiting-for-approval': [
    '2 changes wait for approval; approve with: octavo approve 3f2a91c4',
    'delete space/guides',
    'delete team/docs',
  ],
  drift: ['1 resource was changed on the platform; to keep a change, make it in the manifests', 'team/docs: title'],
  'field-flapping': [
    'A field was changed again after each of 3 reverts; find out what else changes it, or stop declaring it',
    'team/docs title',
  ],
  'token-refused': ['The platform refuses the token; replace it in the configuration: the token has expired'],
  'platform-failing': ['The platform does not answer; Octavo continues as soon as it does'],
  'status-failing': ['The forge refuses commit statuses: the token lacks a permission (403)'],
  'budget-starved': ['Requests have waited longer than 5 minutes for the rate limit'],
  'connector-failing': ['The source helpdesk cannot be read: the helpdesk refused the token (401)'],
  'dead-letters': ['3 conversations were refused by the platform; retry or discard them'],
  'outbox-full': ['Waiting to be sent is full with 100000 conversations, so the sources wait until some are sent'],
  'clusters-failing': ['The last run over the questions readers ask failed: the platform refused the request (403)'],
  stale: ['Not checked for 20 minutes, although a check is due every 5 minutes; see the log of the daemon'],
  paused: ['Changes are paused until 18:00 UTC: release day'],
  'channel-failing': ['The channel helpdesk takes no messages: it answered with 404; check its URL'],
  'state-file-failing': ['The store cannot be used: no space is left on the device'],
  'unowned-organization': ['No replica has had this organization for 3 minutes; check the replicas and the database'],
  'configuration-invalid': [
    'The new configuration cannot be used, so the earlier one stays in use',
    'config.yaml:12:11: organizations[0].prune: "some" is not valid; expected one of owned, never, all',
  ],
};

const EVENTS: Readonly<Record<EventCode, Text>> = {
  applied: ['3 changes of 4f5e6d7 were applied', 'Rename the guides (ana@acme.example)'],
  approved: ['ana@acme.example approved the plan 3f2a91c: reviewed with support'],
  rejected: ['ana@acme.example rejected the plan 3f2a91c: the space is still in use'],
  'change-request-opened': ['A change request was opened for the question "Single sign-on fails"'],
  'change-request-merged': ['The change request for the question "Single sign-on fails" was merged'],
};

/** Conditions about the daemon, the platform or a channel. */
const WITHOUT_ORGANIZATION: ReadonlySet<ConditionCode> = new Set([
  'token-refused',
  'platform-failing',
  'budget-starved',
  'channel-failing',
  'state-file-failing',
  'configuration-invalid',
]);
const ABOUT_PLATFORM: ReadonlySet<ConditionCode> = new Set(['token-refused', 'platform-failing', 'budget-starved']);
/** Conditions with a subject: the name of a source or channel. */
const WITH_SUBJECT: ReadonlySet<ConditionCode> = new Set(['connector-failing', 'channel-failing']);
const AGE = 20 * 60_000;

/** Returns true for the code of an event. */
export function isEventCode(code: ConditionCode | EventCode): code is EventCode {
  return code in EVENTS;
}

/** Returns a condition that began 20 minutes ago and fires, or is resolved now. */
export function sampleCondition(
  code: ConditionCode,
  { organization, platform, now }: SamplePlace,
  isResolved = false,
): Condition {
  const [summary, ...details] = CONDITIONS[code];
  const isGeneral = WITHOUT_ORGANIZATION.has(code);
  const since = now - AGE;
  return {
    id: `sample-${code}`,
    fact: {
      code,
      scope: {
        organization: isGeneral ? null : organization,
        token: null,
        platform: ABOUT_PLATFORM.has(code) ? platform : null,
      },
      subject: WITH_SUBJECT.has(code) ? 'helpdesk' : '',
      since,
      summary,
      details,
      path: isGeneral ? '/alerts' : `/o/${encodeURIComponent(organization)}`,
    },
    state: isResolved ? 'resolved' : 'firing',
    since,
    firedAt: since,
    resolvedAt: isResolved ? now : null,
    clearSince: isResolved ? now : null,
    isInhibited: false,
    starts: [since],
  };
}

/** Returns an event that happened now. */
export function sampleEvent(code: EventCode, { organization, now }: SamplePlace): NotificationEvent {
  const [summary, ...details] = EVENTS[code];
  const path = `/o/${encodeURIComponent(organization)}`;
  return { id: `sample-${code}`, code, organization, at: now, summary, details, path };
}
