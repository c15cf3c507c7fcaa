/** Former names of settings. Using one is an error that names the current setting. */
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

/** Returns the current name of a setting; undefined if it was not renamed. */
export function currentName(path: Path, key: string): string | undefined {
  const parent = path.map((part) => (typeof part === 'number' ? '*' : String(part))).join('.');
  const names = Object.hasOwn(RENAMED, parent) ? RENAMED[parent] : undefined;
  return names !== undefined && Object.hasOwn(names, key) ? names[key] : undefined;
}
