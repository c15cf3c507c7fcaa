import type { Writer } from '../../platform/client.ts';
import type { ClusterIssue, IssueCluster } from '../model/cluster.ts';
import { type Redaction, redactCluster, redactEach, redactIssue } from '../model/redaction.ts';
import type { ChangeRequestItem, ClusterPage, ClusterSource } from '../model/source.ts';

/** Source that redacts clusters and issues when they are read, so that no other code sees the original text. */
export class RedactedSource implements ClusterSource {
  readonly #source: ClusterSource;
  readonly #redaction: Redaction;

  constructor(source: ClusterSource, redaction: Redaction) {
    this.#source = source;
    this.#redaction = redaction;
  }

  get kind(): ClusterSource['kind'] {
    return this.#source.kind;
  }

  get takesStatuses(): boolean {
    return this.#source.takesStatuses;
  }

  get listQuery(): ClusterSource['listQuery'] {
    return this.#source.listQuery;
  }

  async page(page: string | null): Promise<ClusterPage | null> {
    const answer = await this.#source.page(page);
    if (answer === null) {
      return null;
    }
    const clusters = await redactEach(answer.clusters, (cluster) => redactCluster(cluster, this.#redaction));
    return { clusters, next: answer.next };
  }

  async one(id: string): Promise<IssueCluster | null> {
    const cluster = await this.#source.one(id);
    return cluster && redactCluster(cluster, this.#redaction);
  }

  async issues(id: string): Promise<readonly ClusterIssue[]> {
    return redactEach(await this.#source.issues(id), (issue) => redactIssue(issue, this.#redaction));
  }

  mute(writer: Writer, id: string, muted: boolean): Promise<boolean> {
    return this.#source.mute(writer, id, muted);
  }

  link(id: string): ReturnType<ClusterSource['link']> {
    return this.#source.link(id);
  }

  requestsOf(id: string): Promise<readonly ChangeRequestItem[]> {
    return this.#source.requestsOf(id);
  }
}
