// Operations on change requests of a space, and their shape as read.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import {
  givenText,
  optionalFlag,
  optionalNumber,
  optionalText,
  richDocument,
  string,
  text,
  texts,
  urls,
  user,
} from '../model/shapes.ts';
import { templateParams } from './content-shapes.ts';

/**
 * ChangeRequest, as read. Only members that every version has are required; sorting needs both times.
 */
export const changeRequest = z.looseObject({
  id: string,
  number: optionalNumber,
  /**
   * `draft`, `open`, `archived` or `merged`. Other values are kept as received.
   * Source: docs/platform-notes.md#enumerations
   */
  status: string,
  subject: optionalText,
  /** A rich document; some answers leave it out. */
  description: z.unknown().optional(),
  createdBy: user.nullish(),
  createdAt: string,
  updatedAt: string,
  /** The space's id. */
  space: string,
  revision: optionalText,
  revisionInitial: optionalText,
  revisionMergedAncestor: optionalText,
  revisionMerged: optionalText,
  comments: optionalNumber,
  outdated: optionalFlag,
  /** Id of the cluster. Removed in later versions. Source: docs/platform-notes.md#change-requests */
  conversationsIssuesCluster: optionalText,
  /** Topic or finding for which the platform drafted it. Source: docs/platform-notes.md#change-requests */
  siteTopic: z.looseObject({ site: optionalText, topic: optionalText, finding: optionalText }).nullish(),
  urls,
});

/** A requested reviewer: a user or a team, by `kind`. Source: docs/platform-notes.md#reviews */
const requestedReviewer = z.looseObject({
  kind: optionalText,
  user: user.nullish(),
  team: z.looseObject({ id: string, title: optionalText }).nullish(),
  createdAt: optionalText,
});

/** `merge` or `update`, or `conflicts` with the same status. Source: docs/platform-notes.md#merge-and-update */
const outcome = z.looseObject({ revision: optionalText, result: optionalText });

/** Source: docs/platform-notes.md#limits */
const subject = text(0, 100);

const filters = {
  creator: givenText,
  contributor: givenText,
  requestedReviewer: givenText,
  conversationsIssuesCluster: givenText,
  /** From 0.167, in place of the cluster. Source: docs/platform-notes.md#filters */
  topic: givenText,
};

const STATUS = z.enum(['draft', 'open', 'archived', 'merged']);

/** Operations on change requests and their requested reviewers. */
export const changeRequestOperations = {
  /**
   * Always send a status: the platform's default is not documented consistently.
   * Source: docs/platform-notes.md#change-request-lists
   */
  listSpaceChangeRequests: list(
    'listSpaceChangeRequests',
    'Lists the change requests of a space.',
    '/v1/spaces/{spaceId}/change-requests',
    changeRequest,
    {
      ...filters,
      status: STATUS.optional(),
    },
  ),
  /**
   * The statuses that it lists are not documented for every version. From 0.167 it takes a filter.
   * Source: docs/platform-notes.md#change-request-lists
   */
  listOrganizationChangeRequests: list(
    'listOrganizationChangeRequests',
    'Lists the change requests of the organization.',
    '/v1/orgs/{organizationId}/change-requests',
    changeRequest,
    {
      ...filters,
      status: z.array(STATUS).optional(),
      /**
       * Change requests drafted for findings are listed only with `all`.
       * Source: docs/platform-notes.md#change-request-lists
       */
      finding: z.enum(['none', 'all']).optional(),
    },
  ),
  // Extra properties are accepted. It is not documented which ones are kept; check the response.
  createChangeRequest: write(
    'createChangeRequest',
    'Creates a change request, as a draft.',
    'POST',
    '/v1/spaces/{spaceId}/change-requests',
    {
      body: z.looseObject({
        subject: subject.optional(),
        template: z.strictObject({ id: string, params: templateParams }).optional(),
        conversationsIssuesCluster: givenText,
        description: richDocument.optional(),
      }),
      answer: changeRequest,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  getChangeRequest: read(
    'getChangeRequest',
    'Returns a change request by its id, or by its number in the space.',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}',
    changeRequest,
  ),
  updateChangeRequest: write(
    'updateChangeRequest',
    "Updates a change request's subject, description or status.",
    'PATCH',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}',
    {
      body: z.strictObject({
        subject: subject.optional(),
        description: richDocument.optional(),
        status: z.enum(['draft', 'open', 'archived']).optional(),
      }),
      answer: changeRequest.optional(),
      repeat: 'idempotent',
    },
  ),
  mergeChangeRequest: write(
    'mergeChangeRequest',
    'Merges a change request into its space.',
    'POST',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/merge',
    { answer: outcome, repeat: 'never' },
  ),
  /** Pulls what is in the space into the change request. */
  updateChangeRequestContent: write(
    'updateChangeRequestContent',
    'Updates a change request with the current content of its space.',
    'POST',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/update',
    { answer: outcome, repeat: 'never' },
  ),
  listRequestedReviewers: list(
    'listRequestedReviewers',
    'Lists the users and teams that are requested to review a change request.',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers',
    requestedReviewer,
  ),
  /** At least one user; teams cannot be requested. The effect of a second request is not documented. */
  requestReviewers: write(
    'requestReviewers',
    'Requests users to review a change request.',
    'POST',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers',
    {
      body: z.strictObject({
        users: texts.min(1),
        subject: subject.optional(),
        description: richDocument.optional(),
      }),
      answer: z.looseObject({ users: z.array(requestedReviewer).nullish() }),
      repeat: 'never',
      success: [200, 201],
    },
  ),
  removeRequestedReviewer: remove(
    'removeRequestedReviewer',
    'Withdraws the request to a user to review a change request.',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers/{userId}',
  ),
};
