/** Operations that list, create, update and merge change requests. */

import { z } from 'zod';
import {
  addChangeRequest,
  change,
  changeRequestLocation,
  rebase,
  refuseLocked,
  refuseMerged,
  requireChangeRequest,
  viewChangeRequest,
} from '../content/content.ts';
import { templatePage, writeContent } from '../content/edit.ts';
import type { ChangeRequestRecord } from '../content/records.ts';
import { templateParams } from '../documents/content-reference.ts';
import { optionalDocument } from '../documents/rich-document.ts';
import { type ApiAnswer, ApiError, created, invalid, ok, referenced } from '../model/answers.ts';
import {
  type ApiOperation,
  type Context,
  type OperationCall,
  ORGANIZATION,
  operation,
  SPACE,
} from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { omitUndefined } from '../model/patch.ts';
import { CHANGE_REQUEST_STATUSES, id, listQuery, text } from '../model/schema.ts';
import { findCallingUser, requireOrganization } from '../organizations/people.ts';
import { requireSpace, type SpaceRecord, spaceById } from '../spaces/views.ts';
import { getCreationTime, merge, update } from './merge.ts';

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
 * An organization's list accepts one status, or several from 0.167 on.
 * Source: docs/platform-notes.md#change-request-lists
 */
const organizationListQuery = organizationQuery.extend({
  status: z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    z.array(z.enum(CHANGE_REQUEST_STATUSES)).optional(),
  ),
  finding: z.enum(['none', 'all']).optional(),
});

/**
 * Returns true if the list omits change requests that the platform drafted for findings; `finding=all` includes them.
 * Source: docs/platform-notes.md#change-request-lists
 */
function hidesDrafted({ features, query }: OperationCall<string, z.output<typeof organizationListQuery>>): boolean {
  if (query.finding !== undefined && !features.siteFindings) {
    throw invalid('query.finding', 'unknown parameter');
  }
  return features.siteFindings && query.finding !== 'all';
}

/** Returns the statuses that an organization's list includes. */
function listedStatuses({
  features,
  query,
}: OperationCall<string, z.output<typeof organizationListQuery>>): ReadonlySet<ChangeRequestRecord['status']> {
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

/** Subject, with the same limit on creation and update. Source: docs/platform-notes.md#limits */
const subject = text(0, 100);

/** Additional properties are accepted. Source: docs/platform-notes.md#change-requests */
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

/** Reports whether the user created the change request or contributed to it. */
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
function listNewest(call: OperationCall<string, Filters>, records: readonly ChangeRequestRecord[]): ApiAnswer {
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
    view: viewChangeRequest,
  });
}

/**
 * Returns the links that the additional properties of a creation set. It is not documented which of them have an
 * effect. This emulator uses the cluster, which must exist (otherwise 400), and the description, both only with the
 * feature `changeRequestLinks`. A change request is always created as a draft. Source:
 * docs/platform-notes.md#change-requests
 */
function linksOf(context: Context, space: SpaceRecord, body: Creation): Partial<ChangeRequestRecord> {
  if (!context.features.changeRequestLinks) {
    return {};
  }
  const description = optionalDocument(body.description, 'body.description');
  if (body.conversationsIssuesCluster === undefined || !context.features.conversations) {
    return { description };
  }
  const name = String(body.conversationsIssuesCluster);
  const cluster = context.store.issuesClusters.get(name);
  const known = cluster?.organization === space.organization ? cluster : undefined;
  const conversationsIssuesCluster = referenced(known, 'body.conversationsIssuesCluster', 'cluster', name).id;
  return { description, conversationsIssuesCluster };
}

function createChangeRequest(call: OperationCall<'/spaces/{spaceId}/change-requests', unknown, Creation>): ApiAnswer {
  const { store, body } = call;
  const space = requireSpace(call);
  refuseLocked(space);
  const links = linksOf(call, space, body);
  const pages = body.template === undefined ? [] : [templatePage(call, { space }, body.template)];
  const record = addChangeRequest(store, space, getCreationTime(call), {
    status: 'draft',
    subject: body.subject ?? '',
    ...links,
    createdBy: findCallingUser(call)?.id,
  });
  rebase(store, record, space);
  if (pages.length > 0) {
    writeContent(call, { space, changeRequest: record }, { pages }, record.createdBy);
  }
  const made = store.changeRequests.get(record.id) ?? record;
  return created(viewChangeRequest(call, made), changeRequestLocation(call, made));
}

const CR = '/spaces/{spaceId}/change-requests/{changeRequestId}';

/** Operations on change requests. Source: docs/platform-notes.md#change-requests */
export const changeRequestOperations: readonly ApiOperation[] = [
  // Change requests. Source: docs/platform-notes.md#change-requests
  operation('listSpaceChangeRequests', 'GET', `${SPACE}/change-requests`, { query: spaceQuery }, (call) => {
    const space = requireSpace(call);
    const { status = 'open' } = call.query;
    const records = call.store.changeRequests.by('space', space.id).filter((record) => record.status === status);
    return listNewest(call, records);
  }),
  operation(
    'listOrganizationChangeRequests',
    'GET',
    `${ORGANIZATION}/change-requests`,
    { query: organizationListQuery },
    (call) => {
      const { store } = call;
      const organization = requireOrganization(call);
      const statuses = listedStatuses(call);
      const hides = hidesDrafted(call);
      // Change requests of deleted spaces are left out, as they cannot be read either.
      const records = store.spaces
        .by('organization', organization.id)
        .flatMap((space) => store.changeRequests.by('space', space.id))
        .filter(({ status, siteTopic }) => statuses.has(status) && !(hides && siteTopic?.finding));
      return listNewest(call, records);
    },
  ),
  operation(
    'createChangeRequest',
    'POST',
    `${SPACE}/change-requests`,
    { body: changeRequestCreation },
    createChangeRequest,
  ),
  operation('getChangeRequest', 'GET', CR, {}, (call) => ok(viewChangeRequest(call, requireChangeRequest(call)))),
  operation('updateChangeRequest', 'PATCH', CR, { body: changeRequestUpdate, minimal: true }, (call) => {
    const record = requireChangeRequest(call);
    refuseMerged(record);
    const { description, ...rest } = call.body;
    const document = optionalDocument(description, 'body.description');
    return ok(viewChangeRequest(call, change(call, record, omitUndefined({ ...rest, description: document }))));
  }),
  operation('mergeChangeRequest', 'POST', `${CR}/merge`, {}, (call) => {
    const record = requireChangeRequest(call);
    const { revision, hasConflicts } = merge(call, record, spaceById(call.store, record.space));
    return ok({ revision, result: hasConflicts ? 'conflicts' : 'merge' });
  }),
  operation('updateChangeRequestContent', 'POST', `${CR}/update`, {}, (call) => {
    const record = requireChangeRequest(call);
    const { revision, hasConflicts } = update(call, record, spaceById(call.store, record.space));
    return ok({ revision, result: hasConflicts ? 'conflicts' : 'update' });
  }),
];
