/** Former settings. Using one is an error that names the current setting, or says what to do without it. */
import type { Path } from '../model/document.ts';

/** Old names mapped to current names, by the path of the parent (`*` for each entry of a list). */
export const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'organizations.*': { confirm: 'requireApproval', windows: 'syncWindows' },
  'organizations.*.source.git': { poll: 'pollInterval', record: 'recordApplied' },
  'organizations.*.limits': { deletes: 'maxDeletions', share: 'maxChangedPercent' },
  'organizations.*.conversations': { quiet: 'settleDelay' },
  'organizations.*.conversations.batch': { count: 'maxConversations', bytes: 'maxBytes' },
  'organizations.*.conversations.outbox': { items: 'maxItems', bytes: 'maxBytes' },
  'organizations.*.conversations.redact': { off: 'disabledTypes' },
  'organizations.*.conversations.sources.*': { poll: 'pollInterval' },
  'organizations.*.conversations.sources.*.github': { team: 'teamMembers', declined: 'includeNotPlanned' },
  'organizations.*.conversations.sources.*.github.app': { installation: 'installationId' },
  'organizations.*.conversations.sources.*.folder': { after: 'afterRead', rejects: 'rejectDirectory' },
  'organizations.*.clusters': { default: 'defaultSpace', news: 'progressComments' },
  'organizations.*.clusters.select': {
    issues: 'minIssues',
    conversations: 'minConversations',
    age: 'minAge',
    rising: 'risingWeeks',
  },
  'organizations.*.clusters.changeRequest': { template: 'templateId', issues: 'maxIssues', pages: 'maxPages' },
  'organizations.*.clusters.afterMerge': { grow: 'reopenGrowth' },
  'organizations.*.clusters.limits': {
    run: 'maxPerRun',
    open: 'maxOpen',
    space: 'maxOpenPerSpace',
    day: 'maxPerDay',
  },
};

/** Advice for settings that were removed, by the path of the parent. */
const REMOVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  notifications: {
    repeatInterval: 'Octavo no longer repeats messages; alert on the metric octavo_conditions_firing instead',
    digest: 'Octavo no longer sends digests; octavo history shows what was applied',
    timezone: 'it was the time zone of digests, which Octavo no longer sends',
  },
};

/** Says what to do about a former setting; undefined if there was none of this name. */
export function formerSetting(path: Path, key: string): string | undefined {
  const parent = path.map((part) => (typeof part === 'number' ? '*' : String(part))).join('.');
  const find = (all: typeof REMOVED) =>
    Object.hasOwn(all, parent) ? new Map(Object.entries(all[parent] ?? {})) : null;
  const current = find(RENAMED)?.get(key);
  const removed = find(REMOVED)?.get(key);
  return current !== undefined
    ? `was renamed; use ${current}`
    : removed === undefined
      ? undefined
      : `was removed; ${removed}`;
}
