/** Codes of conditions and events: severity, how long a condition must last, and what inhibits it. */

/** `page`: somebody has to act at once. `warning`: somebody has to act. `info`: good to know. */
export type Severity = 'page' | 'warning' | 'info';

/** Conditions that explain others. */
type Inhibitor = 'platform-failing' | 'token-refused' | 'budget-starved' | 'source-unreadable' | 'state-file-failing';

export interface ConditionRule {
  readonly severity: Severity;
  /** Milliseconds that it has to last before it fires. */
  readonly for: number;
  /** Conditions that explain it. While one of them is true of the same subject, it does not fire. */
  readonly inhibitedBy: readonly Inhibitor[];
  /** Start of a sentence about it, such as `Changes wait for approval`. */
  readonly title: string;
}

const MINUTE = 60_000;

/** Every condition of the platform below the daemon. */
const PLATFORM: readonly Inhibitor[] = ['platform-failing', 'token-refused'];

const rule = (
  severity: Severity,
  minutes: number,
  title: string,
  inhibitedBy: readonly Inhibitor[] = [],
): ConditionRule => ({ severity, for: minutes * MINUTE, inhibitedBy, title });

/** All conditions. The list is closed: routes and templates name these codes. */
export const CONDITION_RULES = {
  'source-unreadable': rule('warning', 5, 'The manifests cannot be read'),
  'manifests-invalid': rule('warning', 0, 'The manifests are invalid'),
  'pass-failing': rule('page', 5, 'Passes fail', PLATFORM),
  'changes-failing': rule('warning', 5, 'Changes fail', PLATFORM),
  'plan-refused': rule('warning', 0, 'The plan is refused'),
  'waiting-for-approval': rule('warning', 0, 'Changes wait for approval'),
  drift: rule('info', 15, 'The platform was changed manually'),
  'field-flapping': rule('warning', 0, 'A field is changed back again and again'),
  'token-refused': rule('page', 0, 'The platform refuses the token'),
  'platform-failing': rule('page', 2, 'The platform does not answer'),
  'budget-starved': rule('warning', 30, 'Requests wait for the rate limit', PLATFORM),
  'connector-failing': rule('warning', 15, 'Conversations cannot be read'),
  'dead-letters': rule('warning', 0, 'The platform refused conversations'),
  'outbox-full': rule('warning', 0, 'There is no room for more conversations', PLATFORM),
  'clusters-failing': rule('warning', 15, 'Questions readers ask cannot be read', PLATFORM),
  stale: rule('page', 0, 'The state is out of date', [
    ...PLATFORM,
    'budget-starved',
    'source-unreadable',
    'state-file-failing',
  ]),
  paused: rule('info', 0, 'Changes are paused'),
  'channel-failing': rule('warning', 5, 'A notification channel fails'),
  'status-failing': rule('warning', 5, 'Commit statuses cannot be set'),
  'state-file-failing': rule('page', 1, 'The store cannot be used'),
  'unowned-organization': rule('page', 2, 'No replica has the organization', ['state-file-failing']),
  'configuration-invalid': rule('warning', 0, 'The configuration cannot be used'),
} as const;

export type ConditionCode = keyof typeof CONDITION_RULES;
export const CONDITION_CODES = Object.keys(CONDITION_RULES) as readonly ConditionCode[];

/** Events are announced once and have no end. */
export const EVENT_CODES = [
  'applied',
  'approved',
  'rejected',
  'change-request-opened',
  'change-request-merged',
] as const;
export type EventCode = (typeof EVENT_CODES)[number];
