/** Responses about collections, spaces, pages, change requests and translations. */
import * as z from 'zod';
import {
  gitSync,
  optionalFlag,
  optionalNumber,
  optionalText,
  permissions,
  readMergeRules,
  string,
  urls,
  user,
} from './model/shapes.ts';
import { list, read, write } from './table.ts';

const collection = z.looseObject({
  id: string,
  title: optionalText,
  description: optionalText,
  parent: optionalText,
  defaultLevel: optionalText,
  permissions,
});

export const space = z.looseObject({
  id: string,
  title: optionalText,
  emoji: optionalText,
  visibility: optionalText,
  deletedAt: optionalText,
  editMode: optionalText,
  mergeRules: readMergeRules,
  parent: optionalText,
  language: optionalText,
  revision: optionalText,
  defaultLevel: optionalText,
  changeRequestsOpen: optionalNumber,
  changeRequestsDraft: optionalNumber,
  urls,
  permissions,
  gitSync,
});

/** A page as read, with the pages below it. Types and layouts that are not known are kept. */
export interface ContentPage {
  readonly id: string;
  readonly title?: string | null;
  readonly type?: string | null;
  readonly updatedAt?: string | null;
  readonly slug?: string | null;
  readonly path?: string | null;
  readonly description?: string | null;
  readonly pages?: readonly ContentPage[] | null;
  readonly [field: string]: unknown;
}

const contentPage: z.ZodType<ContentPage> = z.looseObject({
  id: string,
  title: optionalText,
  updatedAt: optionalText,
  type: optionalText,
  slug: optionalText,
  path: optionalText,
  description: optionalText,
  get pages(): z.ZodType<readonly ContentPage[] | null | undefined> {
    return z.array(contentPage).nullish();
  },
});

/** Link item, as read. */
const link = z.looseObject({ /** `ok`, `broken` or `in-app`. */ status: optionalText });

/** ChangeRequest, as read. Only members that every version has are required; sorting needs both times. */
const changeRequest = z.looseObject({
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

const comment = z.looseObject({ id: string });

const pageFound = z.looseObject({ id: string, title: optionalText, path: optionalText, urls });
/** A space with the pages of it that were found. */
const spaceFound = z.looseObject({ id: string, title: optionalText, pages: z.array(pageFound).nullish() });

const translation = z.looseObject({
  id: string,
  status: optionalText,
  source: z.looseObject({ space: string, language: optionalText }),
  language: string,
  /** A rich document. */
  instructions: z.unknown().optional(),
  /** The space that holds the translation, once there is one. */
  result: z.looseObject({ space: optionalText, revision: optionalText }).nullish(),
  permissions,
});

/** Operations on collections, spaces and their content. */
export const contentOperations = {
  listCollections: list('listCollections', collection),
  createCollection: write('createCollection', collection),
  updateCollection: write('updateCollection', collection),
  deleteCollection: write('deleteCollection'),
  moveCollection: write('moveCollection', collection),
  listSpaces: list('listSpaces', space),
  createSpace: write('createSpace', space),
  getSpace: read('getSpace', space),
  updateSpace: write('updateSpace', space),
  deleteSpace: write('deleteSpace'),
  duplicateSpace: write('duplicateSpace', space),
  moveSpace: write('moveSpace', space),
  getSpacePages: read('getSpacePages', z.looseObject({ pages: z.array(contentPage) })),
  listSpaceLinks: list('listSpaceLinks', link),
  searchOrganization: list('searchOrganization', spaceFound),
  /** Always send a status: the platform's default is not documented. Source: docs/platform-notes.md#change-request-lists */
  listSpaceChangeRequests: list('listSpaceChangeRequests', changeRequest),
  listOrganizationChangeRequests: list('listOrganizationChangeRequests', changeRequest),
  createChangeRequest: write('createChangeRequest', changeRequest),
  getChangeRequest: read('getChangeRequest', changeRequest),
  updateChangeRequest: write('updateChangeRequest', changeRequest.optional()),
  listRequestedReviewers: list('listRequestedReviewers', requestedReviewer),
  requestReviewers: write('requestReviewers', z.looseObject({ users: z.array(requestedReviewer).nullish() })),
  postChangeRequestComment: write('postChangeRequestComment', comment),
  listTranslations: list('listTranslations', translation),
  createTranslation: write('createTranslation', translation),
  getTranslation: read('getTranslation', translation),
  updateTranslation: write('updateTranslation', translation),
  deleteTranslation: write('deleteTranslation'),
  runTranslation: write('runTranslation'),
};
