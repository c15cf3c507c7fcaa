import type { Reader, Writer } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import { type ClusterIssue, type IssueCluster, toCluster, toIssue } from '../model/cluster.ts';
import type { ChangeRequestItem, ClusterPage, ClusterSource } from '../model/source.ts';
import { nullIfNotFound } from './spaces.ts';

const NEWEST_FIRST = { sort: 'updatedAt', order: 'desc', limit: 1000 } as const;
/** Number of issues from which the most representative ones are picked. */
const ISSUES = 200;

/** The organization's issue clusters. */
export class IssueClusters implements ClusterSource {
  readonly kind = 'clusters';
  /** Platforms with clusters accept one status. Source: docs/platform-notes.md#change-request-lists */
  readonly takesStatuses = false;
  readonly listQuery = {};
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async page(page: string | null): Promise<ClusterPage | null> {
    const query = { ...NEWEST_FIRST, ...(page === null ? {} : { page }) };
    const answer = await nullIfNotFound(
      this.#reader.get(operations.listConversationClusters, { query }),
      page === null,
    );
    return answer === null ? null : { clusters: answer.items.map(toCluster), next: answer.next?.page ?? null };
  }

  async one(clusterId: string): Promise<IssueCluster | null> {
    const answer = await nullIfNotFound(this.#reader.get(operations.getConversationCluster, { path: { clusterId } }));
    return answer === null ? null : toCluster(answer);
  }

  async issues(cluster: string): Promise<readonly ClusterIssue[]> {
    const query = { cluster, limit: ISSUES };
    const { items } = await this.#reader.get(operations.listConversationIssues, { query });
    return items.map(toIssue);
  }

  async mute(writer: Writer, clusterId: string, muted: boolean): Promise<boolean> {
    const answer = await writer.send(operations.updateConversationCluster, { path: { clusterId }, body: { muted } });
    return toCluster(answer).muted;
  }

  link(id: string): { readonly conversationsIssuesCluster: string } {
    return { conversationsIssuesCluster: id };
  }

  /** Returns nothing: the list of all change requests contains them. */
  async requestsOf(): Promise<readonly ChangeRequestItem[]> {
    return [];
  }
}
