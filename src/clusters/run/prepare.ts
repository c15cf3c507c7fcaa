import { operations } from '../../platform/operations/index.ts';
import type { RichDocument } from '../../platform/rich-text/document.ts';
import { needsSearch, type Route, route, type TargetSpace } from '../decide/route.ts';
import { buildSearchQuery, pickRelatedPages, type RankedSpace, rankSpaces } from '../decide/search-query.ts';
import type { ClusterIssue, IssueCluster } from '../model/cluster.ts';
import { isNotFound } from '../read/spaces.ts';
import { buildDescription, templateValues } from '../write/description.ts';
import { buildSubject } from '../write/subject.ts';
import type { RunContext } from './context.ts';

/** Everything that a cluster's change request is made of. */
export interface Proposal {
  readonly cluster: IssueCluster;
  readonly route: Route;
  readonly subject: string;
  readonly describe: (claim: string) => RichDocument;
}

/** Spaces that a search may answer. */
const RESULTS = 50;

/**
 * Two requests: the cluster's issues, and a search for pages about them. `space`: where a person wants it, whatever the
 * routes say. Throws AppError.
 */
export async function prepare(context: RunContext, cluster: IssueCluster, space?: TargetSpace): Promise<Proposal> {
  const { config, routing, redaction } = context;
  const { changeRequest } = config;
  const issues = await context.source.issues(cluster.id);
  const ranked = await search(context, cluster, issues, space === undefined);
  const chosen: Route =
    space === undefined
      ? route(cluster, routing, await context.spaces(), ranked)
      : { space, why: 'chosen with --space' };
  return {
    cluster,
    route: chosen,
    subject: buildSubject(changeRequest.subject, templateValues(cluster), redaction),
    describe: (claim) =>
      buildDescription({
        cluster,
        issues,
        pages: pickRelatedPages(ranked ?? [], chosen.space?.id ?? '', changeRequest.maxPages),
        template: changeRequest.description,
        most: changeRequest.maxIssues,
        claim,
      }),
  };
}

/** Where a cluster goes, if no search is needed to know it; else null. Throws AppError. */
export async function routeBefore({ routing, ...context }: RunContext, cluster: IssueCluster): Promise<Route | null> {
  const spaces = await context.spaces();
  return needsSearch(cluster, routing, spaces) ? null : route(cluster, routing, spaces, null);
}

/** Null where nothing was searched for: neither the routes nor the description need it, or there is nothing to say. */
async function search(
  context: RunContext,
  cluster: IssueCluster,
  issues: readonly ClusterIssue[],
  isRouted: boolean,
): Promise<readonly RankedSpace[] | null> {
  const { config, routing, reader, events } = context;
  const routes = isRouted && needsSearch(cluster, routing, await context.spaces());
  const query = buildSearchQuery(cluster, issues);
  if ((!routes && config.changeRequest.maxPages === 0) || query === '') {
    return null;
  }
  try {
    const { items } = await reader.get(operations.searchOrganization, { query: { query, limit: RESULTS } });
    return rankSpaces(items);
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
    events.onTrouble?.({ cluster: cluster.id, message: 'this platform has no search over the organization (404)' });
    return null;
  }
}
