import type { ClustersConfig } from '../../config/clusters.ts';
import type { Reader } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { RichDocument } from '../../platform/rich-text/node.ts';
import { chooseSpace, needsSearch, type Route, type Routing, type Spaces, type TargetSpace } from '../decide/route.ts';
import { buildSearchQuery, pickRelatedPages, type RankedSpace, rankSpaces } from '../decide/search-query.ts';
import type { ClusterIssue, IssueCluster } from '../model/cluster.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ClusterSource } from '../model/source.ts';
import { nullIfNotFound } from '../read/spaces.ts';
import { buildDescription, templateValues } from '../write/description.ts';
import { buildSubject } from '../write/subject.ts';
import type { ClusterEvents } from './events.ts';

/** Content of a change request for a cluster, with its space. */
export interface Proposal {
  readonly cluster: IssueCluster;
  readonly route: Route;
  readonly subject: string;
  readonly describe: (claim: string) => RichDocument;
}

/** Number of spaces that a search may return. */
const MAX_RESULTS = 50;

/** Parts that `Proposals` needs. */
interface ProposalParts {
  readonly reader: Reader;
  readonly source: Pick<ClusterSource, 'issues'>;
  readonly routing: Routing;
  readonly spaces: () => Promise<Spaces>;
  readonly settings: ClustersConfig['changeRequest'];
  readonly redaction: Redaction;
  readonly events: Pick<ClusterEvents, 'onTrouble'>;
}

/** Prepares the content of change requests. Methods throw AppError. */
export class Proposals {
  readonly #parts: ProposalParts;

  constructor(parts: ProposalParts) {
    this.#parts = parts;
  }

  /** Takes two requests: the issues of the cluster, and a search for pages. `space` overrides the routes. */
  async prepare(cluster: IssueCluster, space?: TargetSpace): Promise<Proposal> {
    const { source, routing, spaces, settings, redaction } = this.#parts;
    const issues = await source.issues(cluster.id);
    const ranked = await this.#search(cluster, issues, space === undefined);
    const route: Route =
      space === undefined
        ? chooseSpace(cluster, routing, await spaces(), ranked)
        : { space, why: 'chosen with --space' };
    return {
      cluster,
      route,
      subject: buildSubject(settings.subject, templateValues(cluster), redaction),
      describe: (claim) =>
        buildDescription({
          cluster,
          issues,
          pages: pickRelatedPages(ranked ?? [], route.space?.id ?? '', settings.maxPages),
          template: settings.description,
          most: settings.maxIssues,
          claim,
        }),
    };
  }

  /** Returns the route of a cluster if no search is needed for it, else null. */
  async routeWithoutSearch(cluster: IssueCluster): Promise<Route | null> {
    const { routing } = this.#parts;
    const spaces = await this.#parts.spaces();
    return needsSearch(cluster, routing, spaces) ? null : chooseSpace(cluster, routing, spaces, null);
  }

  /** Returns null without a search if neither the routes nor the description need one, or there is nothing to search for. */
  async #search(
    cluster: IssueCluster,
    issues: readonly ClusterIssue[],
    isRouted: boolean,
  ): Promise<readonly RankedSpace[] | null> {
    const { reader, routing, spaces, settings, events } = this.#parts;
    const routes = isRouted && needsSearch(cluster, routing, await spaces());
    const query = buildSearchQuery(cluster, issues);
    if ((!routes && settings.maxPages === 0) || query === '') {
      return null;
    }
    const input = { query: { query, limit: MAX_RESULTS } };
    const answer = await nullIfNotFound(reader.get(operations.searchOrganization, input));
    if (answer === null) {
      events.onTrouble?.({ cluster: cluster.id, message: 'this platform has no search over the organization (404)' });
    }
    return answer && rankSpaces(answer.items);
  }
}
