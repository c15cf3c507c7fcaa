/** Names in the templates of notifications, and checks of those templates. See docs/notifications.md#templates. */
import { CONDITION_CODES, type ConditionCode, type EventCode } from '../core/condition-codes.ts';
import { parseTemplate } from '../core/text/template.ts';
import { templateProblems } from './cluster-template.ts';

/** Names that every template may contain. */
const COMMON_NAMES = ['title', 'summary', 'details', 'url', 'code', 'severity', 'state', 'count'] as const;
/** Names that templates of conditions may contain in addition. */
const CONDITION_NAMES = ['since', 'duration'] as const;
/** Names that templates of events may contain in addition. */
const EVENT_NAMES = ['time'] as const;
/** Names of what a condition or event is about. */
const SUBJECT_NAMES = ['organization', 'platform', 'source', 'channel'] as const;

type SubjectName = (typeof SUBJECT_NAMES)[number];
/** Name in the template of a notification. */
export type NotificationName =
  | (typeof COMMON_NAMES)[number]
  | (typeof CONDITION_NAMES)[number]
  | (typeof EVENT_NAMES)[number]
  | SubjectName;

/** Names of what each condition is about, where that is not only an organization. */
const SUBJECTS: Readonly<Partial<Record<ConditionCode | EventCode, readonly SubjectName[]>>> = {
  'token-refused': ['platform'],
  'platform-failing': ['platform'],
  'budget-starved': ['platform'],
  'connector-failing': ['organization', 'source'],
  'channel-failing': ['channel'],
  'state-file-failing': [],
  'configuration-invalid': [],
};

/** Names whose value may be empty: not every condition has details, and without `ui.publicUrl` there are no links. */
const OPTIONAL: readonly string[] = ['details', 'url'] satisfies NotificationName[];

/** Returns the names that the template of a code may contain. */
export function namesForCode(code: ConditionCode | EventCode): readonly NotificationName[] {
  const isCondition = (CONDITION_CODES as readonly string[]).includes(code);
  return [...(SUBJECTS[code] ?? ['organization']), ...COMMON_NAMES, ...(isCondition ? CONDITION_NAMES : EVENT_NAMES)];
}

/** Returns the problems of a template, each with its solution. */
export function notificationTemplateProblems(template: string, code: ConditionCode | EventCode): readonly string[] {
  const problems = templateProblems(template, namesForCode(code)).map(({ message }) => message);
  const { parts } = parseTemplate(template);
  const mayBeEmpty = parts.every(({ text, name }) => text?.trim() === '' || OPTIONAL.includes(name ?? ''));
  return mayBeEmpty && problems.length === 0
    ? ['can result in an empty text, because {{details}} and {{url}} may be empty; add {{summary}} or some text']
    : problems;
}
