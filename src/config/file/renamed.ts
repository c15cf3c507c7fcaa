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
  const current = find(RENAMED, parent, key);
  if (current !== undefined) {
    return `was renamed; use ${current}`;
  }
  const advice = find(REMOVED, parent, key);
  return advice === undefined ? undefined : `was removed; ${advice}`;
}

function find(settings: typeof REMOVED, parent: string, key: string): string | undefined {
  const members = Object.hasOwn(settings, parent) ? settings[parent] : undefined;
  return members !== undefined && Object.hasOwn(members, key) ? members[key] : undefined;
}
