import type { Clock } from '../../core/clock.ts';
import { RejectedError } from '../../core/errors.ts';
import type { Reader, Writer } from '../../platform/client.ts';
import { isMissingOperation } from '../../platform/conversations-probe.ts';
import { operations } from '../../platform/operations/index.ts';
import type { ClusterIssue, IssueCluster } from '../model/cluster.ts';
import type { ChangeRequestItem, ClusterPage, ClusterSource } from '../model/source.ts';
import { type FindingAnswer, findingToIssue, isOpen, topicToCluster } from '../model/topic.ts';
import { nullIfNotFound } from './spaces.ts';

/** Name under which a site lists its findings; null if unknown. */
export interface FindingsName {
  is: 'findings' | 'issues' | null;
}

const STATUSES = ['draft', 'open', 'merged', 'archived'] as const;

/** Topics of a site. Their issues are its findings, which older versions call issues. */
export class SiteTopics implements ClusterSource {
  readonly kind = 'topics';
  readonly takesStatuses = true;
  readonly #reader: Reader;
  readonly #path: { readonly siteId: string };
  readonly #clock: Clock;
  readonly #name: FindingsName;

  /** `name` outlives a source, so that it is detected only once. */
  constructor(reader: Reader, siteId: string, clock: Clock, name: FindingsName) {
    this.#reader = reader;
    this.#path = { siteId };
    this.#clock = clock;
    this.#name = name;
  }

  /** Filter that includes the platform's own drafts for findings, which the list omits by default (0.202). */
  get listQuery(): ClusterSource['listQuery'] {
    return this.#name.is === 'findings' ? { finding: 'all' } : {};
  }

  /** Returns all topics: their list is not paginated and has no order. Source: docs/platform-notes.md#topics */
  async page(): Promise<ClusterPage | null> {
    const answer = await nullIfNotFound(this.#reader.get(operations.listSiteTopics, { path: this.#path }));
    if (answer === null) {
      return null;
    }
    const findings = answer.items.length === 0 ? [] : await this.#open({});
    const now = this.#clock.now();
    const byTopic = findings === null ? null : Map.groupBy(findings, ({ topic }) => topic);
    const clusters = answer.items.map((topic) => topicToCluster(topic, byTopic && (byTopic.get(topic.id) ?? []), now));
    return { clusters: clusters.sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0)), next: null };
  }

  async one(siteTopicId: string): Promise<IssueCluster | null> {
    const path = { ...this.#path, siteTopicId };
    const answer = await nullIfNotFound(this.#reader.get(operations.getSiteTopic, { path }));
    return answer === null ? null : topicToCluster(answer, await this.#open({ topic: siteTopicId }), this.#clock.now());
  }

  async issues(topic: string): Promise<readonly ClusterIssue[]> {
    return ((await this.#open({ topic })) ?? []).map(findingToIssue);
  }

  async mute(writer: Writer, siteTopicId: string, muted: boolean): Promise<boolean> {
    const body = { usageSettings: { changeRequests: !muted } };
    const answer = await writer.send(operations.updateSiteTopic, { path: { ...this.#path, siteTopicId }, body });
    return answer.usageSettings?.changeRequests === false;
  }

  /** Returns nothing: no documented field links a change request to a topic, so the description does. */
  link(): Record<never, never> {
    return {};
  }

  /** Lists the change requests that the platform drafted on its own. */
  async requestsOf(topic: string): Promise<readonly ChangeRequestItem[]> {
    const query = { ...this.listQuery, status: [...STATUSES], topic };
    try {
      return await Array.fromAsync(this.#reader.pages(operations.listOrganizationChangeRequests, { query }));
    } catch (error) {
      if (error instanceof RejectedError) {
        return [];
      }
      throw error;
    }
  }

  /** Lists the open findings; null if the platform lists neither findings nor issues. */
  async #open(filter: { readonly topic?: string }): Promise<readonly FindingAnswer[] | null> {
    const input = { path: this.#path, query: { ...filter, status: 'open' as const } };
    const { pages } = this.#reader;
    const tries = [
      ['findings', () => Array.fromAsync(pages(operations.listSiteFindings, input))],
      ['issues', () => Array.fromAsync(pages(operations.listSiteIssues, input))],
    ] as const;
    // Try the known name first, then the other one: the platform may have been upgraded.
    for (const [name, list] of this.#name.is === 'issues' ? tries.toReversed() : tries) {
      const findings = await list().catch(nullWhereNotThere);
      this.#name.is = findings === null ? null : name;
      if (findings !== null) {
        return findings.filter(isOpen).filter(({ topic }) => filter.topic === undefined || topic === filter.topic);
      }
    }
    return null;
  }
}

function nullWhereNotThere(error: unknown): null {
  if (isMissingOperation(error)) {
    return null;
  }
  throw error;
}
