import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { type Answer, ApiError, created, invalid, ok } from '../answers.ts';
import { change, creationTime, merge, refuseLocked, refuseMerged, update } from '../change-request-work.ts';
import type { ChangeRequestRecord } from '../collaboration-records.ts';
import { rebase } from '../content.ts';
import { writeContent } from '../content-edit.ts';
import { templateParams } from '../content-ref.ts';
import { callingUser, changeRequestAt, organizationAt, referenced, spaceAt } from '../lookup.ts';
import { type Call, type Context, type Operation, operation } from '../operation.ts';
import { list } from '../paging.ts';
import { present } from '../patch.ts';
import type { SpaceRecord } from '../records.ts';
import { requireDocument } from '../rich-document.ts';
import { id, listQuery, text } from '../schema.ts';
import { templatePage } from '../template.ts';
import { changeRequestLocation, viewChangeRequest } from '../views/change-request.ts';
import { CHANGE_REQUEST_STATUSES } from '../vocabulary.ts';

/** Filters of an organization's list: users by id, and the cluster. Source: docs/platform-notes.md#filters */
const organizationQuery = listQuery.extend({
  creator: z.string().optional(),
  contributor: z.string().optional(),
  requestedReviewer: z.string().optional(),
  conversationsIssuesCluster: z.string().optional(),
  topic: z.string().optional(),
});
type Filters = z.output<typeof organizationQuery>;

/**
 * An organization's list takes one status, and several from 0.167. Source: docs/platform-notes.md#change-request-lists
 */
const organizationListQuery = organizationQuery.extend({
  status: z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    z.array(z.enum(CHANGE_REQUEST_STATUSES)).optional(),
  ),
  finding: z.enum(['none', 'all']).optional(),
});

/**
 * Reports whether change requests drafted for findings are hidden: they are listed only when asked for.
 * Source: docs/platform-notes.md#change-request-lists
 */
function hidesDrafted({ features, query }: Call<string, z.output<typeof organizationListQuery>>): boolean {
  if (query.finding !== undefined && !features.siteFindings) {
    throw invalid('query.finding', 'unknown parameter');
  }
  return features.siteFindings && query.finding !== 'all';
}

/** The statuses of the change requests that an organization's list has. */
function listedStatuses({
  features,
  query,
}: Call<string, z.output<typeof organizationListQuery>>): ReadonlySet<ChangeRequestRecord['status']> {
  if (query.status === undefined) {
    return new Set(features.changeRequestDrafts ? CHANGE_REQUEST_STATUSES : ['open']);
  }
  if (!features.changeRequestStatus && !features.changeRequestStatuses) {
    throw invalid('query.status', 'unknown parameter');
  }
  if (query.status.length > 1 && !features.changeRequestStatuses) {
    throw invalid('query.status', 'must be one status');
  }
  return new Set(query.status);
}

const spaceQuery = organizationQuery.extend({ status: z.enum(CHANGE_REQUEST_STATUSES).optional() });

/** The limit applies to creation too. Source: docs/platform-notes.md#limits */
const subject = text(0, 100);

/** Further properties are accepted. Source: docs/platform-notes.md#change-requests */
const changeRequestCreation = z.looseObject({
  subject: subject.optional(),
  template: z
    .strictObject({
      id,
      params: templateParams.optional(),
    })
    .optional(),
  conversationsIssuesCluster: z.unknown().optional(),
  description: z.unknown().optional(),
});
type Creation = z.output<typeof changeRequestCreation>;

/** `merged` results only from a merge. Source: docs/platform-notes.md#enumerations */
const changeRequestUpdate = z.strictObject({
  subject: subject.optional(),
  description: z.unknown().optional(),
  status: z.enum(['draft', 'open', 'archived']).optional(),
});

/** Who made it wrote in it. */
function isContributor(record: ChangeRequestRecord, user: string): boolean {
  return record.createdBy === user || record.contributors?.includes(user) === true;
}

function matches(record: ChangeRequestRecord, query: Filters): boolean {
  const { creator, contributor, requestedReviewer, conversationsIssuesCluster, topic } = query;
  return (
    (creator === undefined || record.createdBy === creator) &&
    (contributor === undefined || isContributor(record, contributor)) &&
    (requestedReviewer === undefined || record.requestedReviewers.some(({ user }) => user === requestedReviewer)) &&
    (conversationsIssuesCluster === undefined || record.conversationsIssuesCluster === conversationsIssuesCluster) &&
    (topic === undefined || record.siteTopic?.topic === topic)
  );
}

/** Lists change requests, newest first: a decision of this emulator, since no order is documented. */
function listNewest(call: Call<string, Filters>, records: readonly ChangeRequestRecord[]): Answer {
  if (call.query.conversationsIssuesCluster !== undefined && !call.features.conversations) {
    throw new ApiError(400, 'query.conversationsIssuesCluster: unknown parameter');
  }
  if (call.query.topic !== undefined && !call.features.contextRecords) {
    throw new ApiError(400, 'query.topic: unknown parameter');
  }
  return list(call, {
    items: records.filter((record) => matches(record, call.query)),
    key: (record) => [record.seq, 0],
    descending: true,
    view: (record) => viewChangeRequest(call, record),
  });
}

/**
 * Returns what the further properties of a creation link. Decisions of this emulator, since it is not documented which
 * of them have an effect: the cluster, which must exist (400), and the description, both only with the feature
 * `changeRequestLinks`. A change request is always created as a draft. Source: docs/platform-notes.md#change-requests
 */
function linksOf(context: Context, space: SpaceRecord, body: Creation): Partial<ChangeRequestRecord> {
  if (!context.features.changeRequestLinks) {
    return {};
  }
  const description =
    body.description === undefined ? undefined : requireDocument(body.description, 'body.description');
  if (body.conversationsIssuesCluster === undefined || !context.features.conversations) {
    return { description };
  }
  const name = String(body.conversationsIssuesCluster);
  const cluster = context.store.issuesClusters.get(name);
  const known = cluster?.organization === space.organization ? cluster : undefined;
  const conversationsIssuesCluster = referenced(known, 'body.conversationsIssuesCluster', 'cluster', name).id;
  return { description, conversationsIssuesCluster };
}

function createChangeRequest(call: Call<'/spaces/{spaceId}/change-requests', unknown, Creation>): Answer {
  const { store, body } = call;
  const space = spaceAt(store, call.params.spaceId);
  refuseLocked(space);
  const links = linksOf(call, space, body);
  const pages = body.template === undefined ? [] : [templatePage(call, { space }, body.template)];
  const at = creationTime(call);
  const record = store.changeRequests.put({
    ...store.identify('cr'),
    space: space.id,
    number: store.changeRequests.count('space', space.id) + 1,
    status: 'draft',
    subject: body.subject ?? '',
    ...links,
    createdBy: callingUser(store, call.caller)?.id,
    createdAt: at,
    updatedAt: at,
    revision: store.identify('rev').id,
    revisionInitial: space.revision,
    requestedReviewers: [],
  });
  rebase(store, record, space);
  if (pages.length > 0) {
    writeContent(call, { space, changeRequest: record }, { pages }, record.createdBy);
  }
  const made = changeRequestAt(store, space.id, record.id);
  return created(viewChangeRequest(call, made), changeRequestLocation(call, made));
}

const CR = '/spaces/{spaceId}/change-requests/{changeRequestId}';

const lists: readonly Operation[] = [
  operation({
    name: 'listSpaceChangeRequests',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests',
    query: spaceQuery,
    handle: (call) => {
      const space = spaceAt(call.store, call.params.spaceId);
      const { status = 'open' } = call.query;
      const records = call.store.changeRequests.by('space', space.id).filter((record) => record.status === status);
      return listNewest(call, records);
    },
  }),
  operation({
    name: 'listOrganizationChangeRequests',
    method: 'GET',
    path: '/orgs/{organizationId}/change-requests',
    query: organizationListQuery,
    handle: (call) => {
      const { store } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const statuses = listedStatuses(call);
      const hides = hidesDrafted(call);
      // Those of deleted spaces are not there, as they are not when one asks for them.
      const records = store.spaces
        .by('organization', organization.id)
        .flatMap((space) => store.changeRequests.by('space', space.id))
        .filter(({ status, siteTopic }) => statuses.has(status) && !(hides && siteTopic?.finding));
      return listNewest(call, records);
    },
  }),
];

const work: readonly Operation[] = [
  operation({
    name: 'mergeChangeRequest',
    method: 'POST',
    path: `${CR}/merge`,
    handle: (call) => {
      const record = changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId);
      const { revision, hasConflicts } = merge(call, record, spaceAt(call.store, record.space));
      return ok({ revision, result: hasConflicts ? 'conflicts' : 'merge' });
    },
  }),
  operation({
    name: 'updateChangeRequestContent',
    method: 'POST',
    path: `${CR}/update`,
    handle: (call) => {
      const record = changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId);
      const { revision, hasConflicts } = update(call, record, spaceAt(call.store, record.space));
      return ok({ revision, result: hasConflicts ? 'conflicts' : 'update' });
    },
  }),
];

/** Operations on change requests. Source: docs/platform-notes.md#change-requests */
export const changeRequestOperations: readonly Operation[] = [
  ...lists,
  operation({
    name: 'createChangeRequest',
    method: 'POST',
    path: '/spaces/{spaceId}/change-requests',
    body: changeRequestCreation,
    handle: createChangeRequest,
  }),
  operation({
    name: 'getChangeRequest',
    method: 'GET',
    path: CR,
    handle: (call) =>
      ok(viewChangeRequest(call, changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId))),
  }),
  operation({
    name: 'updateChangeRequest',
    method: 'PATCH',
    path: CR,
    body: changeRequestUpdate,
    minimal: true,
    handle: (call) => {
      const record = changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId);
      refuseMerged(record);
      const { description, ...rest } = call.body;
      const document: Json | undefined =
        description === undefined ? undefined : requireDocument(description, 'body.description');
      return ok(viewChangeRequest(call, change(call, record, present({ ...rest, description: document }))));
    },
  }),
  ...work,
];
