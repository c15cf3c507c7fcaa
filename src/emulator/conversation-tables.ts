import { type ClusterRecord, type ConversationRecord, type IssueRecord, scopeOf } from './conversation-records.ts';
import { Table } from './table.ts';

interface Scoped {
  readonly organization: string;
  readonly site?: string | undefined;
}

/**
 * Returns the organization of a record, unless the record belongs to a site.
 * Source: docs/platform-notes.md#context-records
 */
const ownOf = ({ organization, site }: Scoped) => (site === undefined ? organization : undefined);
const siteOf = ({ site }: Scoped) => site;
const runningOf = (record: { readonly run?: unknown }) => (record.run ? 'yes' : undefined);

/** Conversations and context records, what they are about, and what is alike. */
export function conversationTables(changed: () => void) {
  return {
    conversations: new Table<ConversationRecord, 'organization' | 'site' | 'origin' | 'running'>(
      {
        organization: ownOf,
        site: siteOf,
        origin: (record) => originKey(scopeOf(record), record.source, record.externalId),
        running: runningOf,
      },
      changed,
    ),
    conversationIssues: new Table<IssueRecord, 'organization' | 'site' | 'cluster' | 'conversation' | 'running'>(
      {
        organization: ownOf,
        site: siteOf,
        cluster: (issue) => issue.cluster,
        conversation: (issue) => issue.conversation,
        running: runningOf,
      },
      changed,
    ),
    issuesClusters: new Table<ClusterRecord, 'organization' | 'site'>({ organization: ownOf, site: siteOf }, changed),
  };
}

/**
 * Returns the key by which a record is unique: a conversation's id is unique within its source, a context record's
 * within its site. Source: docs/platform-notes.md#conversations
 */
export function originKey(scope: string, source: string, externalId: string): string {
  return JSON.stringify([scope, source, externalId]);
}
