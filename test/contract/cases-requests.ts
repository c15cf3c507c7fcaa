/** Contract cases for comments and change requests. */
import { expect } from 'vitest';
import { type Cases, commentBody, document, type Ids } from './operation-world.ts';

type Place = { readonly spaceId: string };

/** The two families of comments have the same requests; `of`: what is commented on. */
function commentCases<P extends Place>(
  of: (ids: Ids) => P,
  comment: (ids: Ids) => string,
  reply: (ids: Ids) => string,
  replyUpdate: object,
) {
  const one = (ids: Ids) => ({ ...of(ids), commentId: comment(ids) });
  const oneReply = (ids: Ids) => ({ ...one(ids), commentReplyId: reply(ids) });
  return {
    list: {
      good: (ids: Ids) => ({
        path: of(ids),
        query: {
          order: 'asc' as const,
          format: 'markdown' as const,
          status: 'open' as const,
          authors: [ids.ana, ids.bo],
        },
      }),
      sees: (ids: Ids) => ({ items: [{ id: comment(ids), body: { markdown: 'Well' }, replies: 1 }] }),
      bad: (ids: Ids) => ({ path: { ...of(ids), spaceId: 'none' } }),
    },
    post: {
      good: (ids: Ids) => ({ path: of(ids), body: { body: { document }, page: ids.page } }),
      sees: ({ page }: Ids) => ({ target: { page: { id: page } }, status: 'open' }),
      bad: (ids: Ids) => ({ path: of(ids), body: { ...commentBody, page: 'none' } }),
      status: 400,
    },
    get: {
      good: (ids: Ids) => ({ path: one(ids), query: { format: 'document' } as const }),
      sees: () => ({ body: { document: { object: 'document' } } }),
    },
    update: {
      good: (ids: Ids) => ({ path: one(ids), body: { resolved: true, addedReactions: ['1f44d'], ...commentBody } }),
      sees: () => ({ status: 'resolved', reactions: [{ emoji: '1f44d', count: 1 }] }),
    },
    delete: {
      good: (ids: Ids) => ({ path: one(ids) }),
      bad: (ids: Ids) => ({ path: { ...one(ids), spaceId: 'none' } }),
    },
    listReplies: {
      good: (ids: Ids) => ({ path: one(ids), query: { format: 'markdown' } as const }),
      sees: (ids: Ids) => ({ items: [{ id: reply(ids), body: { markdown: 'Well' } }] }),
    },
    postReply: {
      good: (ids: Ids) => ({ path: one(ids), body: commentBody }),
      sees: () => ({ body: { markdown: 'Well' } }),
    },
    getReply: {
      good: (ids: Ids) => ({ path: oneReply(ids), query: { format: 'markdown' } as const }),
      sees: () => ({ body: { markdown: 'Well' } }),
    },
    updateReply: {
      good: (ids: Ids) => ({
        path: oneReply(ids),
        body: { body: { markdown: 'Better' }, addedReactions: ['1f44d'], removedReactions: ['1f44e'], ...replyUpdate },
      }),
      sees: () => ({ body: { markdown: 'Better' } }),
    },
    deleteReply: {
      good: (ids: Ids) => ({ path: oneReply(ids) }),
      bad: (ids: Ids) => ({ path: { ...oneReply(ids), commentId: 'none' } }),
    },
    commenters: {
      good: (ids: Ids) => ({ path: of(ids) }),
      sees: ({ ana }: Ids) => ({ items: [{ id: ana }] }),
      bad: (ids: Ids) => ({ path: { ...of(ids), spaceId: 'none' } }),
    },
  };
}

const ofSpace = ({ space }: Ids) => ({ spaceId: space });
const ofRequest = ({ space, request }: Ids) => ({ spaceId: space, changeRequestId: request });
const ofMerged = ({ space, merged }: Ids) => ({ spaceId: space, changeRequestId: merged });
const ofNone = ({ space }: Ids) => ({ spaceId: space, changeRequestId: 'none' });

const onSpace = commentCases(
  ofSpace,
  ({ comment }) => comment,
  ({ reply }) => reply,
  {},
);
const onRequest = commentCases(
  ofRequest,
  ({ crComment }) => crComment,
  ({ crReply }) => crReply,
  { resolved: true },
);

/** Comments on spaces and on change requests. */
export const commentCasesOfBoth = {
  listSpaceComments: onSpace.list,
  postSpaceComment: onSpace.post,
  getSpaceComment: onSpace.get,
  updateSpaceComment: onSpace.update,
  deleteSpaceComment: onSpace.delete,
  listSpaceCommentReplies: onSpace.listReplies,
  postSpaceCommentReply: onSpace.postReply,
  getSpaceCommentReply: onSpace.getReply,
  updateSpaceCommentReply: onSpace.updateReply,
  deleteSpaceCommentReply: onSpace.deleteReply,
  listSpaceCommenters: onSpace.commenters,
  listChangeRequestComments: { ...onRequest.list, sees: ({ crComment }) => ({ items: [{}, { id: crComment }] }) },
  postChangeRequestComment: onRequest.post,
  getChangeRequestComment: onRequest.get,
  updateChangeRequestComment: onRequest.update,
  deleteChangeRequestComment: onRequest.delete,
  listChangeRequestCommentReplies: onRequest.listReplies,
  postChangeRequestCommentReply: onRequest.postReply,
  getChangeRequestCommentReply: onRequest.getReply,
  updateChangeRequestCommentReply: onRequest.updateReply,
  deleteChangeRequestCommentReply: onRequest.deleteReply,
  listChangeRequestCommenters: onRequest.commenters,
} satisfies Partial<Cases>;

/** Change requests, their content, and their reviewers. */
export const requestCases = {
  listSpaceChangeRequests: {
    good: ({ space, bo }) => ({ path: { spaceId: space }, query: { status: 'draft', requestedReviewer: bo } }),
    sees: ({ request }) => ({ items: [{ id: request }] }),
  },
  listOrganizationChangeRequests: {
    good: ({ ana }) => ({ query: { creator: ana, limit: 1, status: ['draft'] } }),
    sees: ({ request }) => ({ items: [{ object: 'change-request', id: request }] }),
  },
  createChangeRequest: {
    good: ({ space, page, cluster }) => ({
      path: { spaceId: space },
      body: {
        subject: 'Docs gap',
        template: { id: 't', params: { contentRefs: { it: { kind: 'page', page } } } },
        conversationsIssuesCluster: cluster,
        description: document,
        anything: 'else',
      },
    }),
    sees: ({ cluster }) => ({ status: 'draft', conversationsIssuesCluster: cluster, description: { ...document } }),
    bad: ({ space }) => ({ path: { spaceId: space }, body: { conversationsIssuesCluster: 'none' } }),
    status: 400,
  },
  getChangeRequest: {
    good: ({ space }) => ({ path: { spaceId: space, changeRequestId: '1' } }),
    sees: ({ request }) => ({ id: request, number: 1 }),
  },
  updateChangeRequest: {
    good: (ids) => ({ path: ofRequest(ids), body: { subject: 'S', description: document, status: 'open' } }),
    sees: () => ({ subject: 'S', status: 'open' }),
    bad: (ids) => ({ path: ofMerged(ids), body: { subject: 'S' } }),
    status: 400,
  },
  mergeChangeRequest: {
    good: (ids) => ({ path: ofRequest(ids) }),
    sees: () => ({ result: 'merge', revision: expect.any(String) }),
    bad: (ids) => ({ path: ofMerged(ids) }),
    status: 400,
  },
  updateChangeRequestContent: {
    good: (ids) => ({ path: ofRequest(ids) }),
    sees: () => ({ result: 'update' }),
  },
  listRequestedReviewers: {
    good: (ids) => ({ path: ofRequest(ids) }),
    sees: ({ bo }) => ({ items: [{ kind: 'user', user: { id: bo } }] }),
  },
  requestReviewers: {
    good: (ids) => ({ path: ofRequest(ids), body: { users: [ids.ana], subject: 'S', description: document } }),
    sees: ({ ana }) => ({ users: [{ user: { id: ana } }] }),
    bad: (ids) => ({ path: ofRequest(ids), body: { users: ['none'] } }),
    status: 400,
  },
  removeRequestedReviewer: {
    good: (ids) => ({ path: { ...ofRequest(ids), userId: ids.bo } }),
    bad: (ids) => ({ path: { ...ofNone(ids), userId: ids.bo } }),
  },
  listChangeRequestReviews: {
    good: (ids) => ({ path: ofRequest(ids) }),
    sees: ({ ana }) => ({ items: [{ status: 'approved', reviewer: { id: ana } }] }),
  },
  submitChangeRequestReview: {
    good: (ids) => ({ path: ofRequest(ids), body: { status: 'changes-requested', comment: { document } } }),
    sees: () => ({ status: 'changes-requested' }),
    bad: (ids) => ({ path: ofMerged(ids), body: { status: 'approved' } }),
    status: 400,
  },
  getChangeRequestContent: {
    good: (ids) => ({ path: ofRequest(ids), query: { metadata: false } }),
    sees: ({ page, file }) => ({ pages: [{ id: page }, {}], files: [{ id: file }] }),
  },
  getChangeRequestPages: {
    good: (ids) => ({ path: ofRequest(ids) }),
    sees: ({ page }) => ({ pages: [{ id: page }, {}] }),
  },
  listChangeRequestFiles: {
    good: (ids) => ({ path: ofRequest(ids), query: { limit: 1 } }),
    sees: ({ file }) => ({ items: [{ id: file }] }),
  },
  getChangeRequestFile: {
    good: (ids) => ({ path: { ...ofRequest(ids), fileId: ids.file } }),
    sees: () => ({ name: 'logo.svg' }),
  },
  listChangeRequestFileBacklinks: {
    good: (ids) => ({ path: { ...ofRequest(ids), fileId: ids.file } }),
    sees: () => ({ items: [{}] }),
  },
  getChangeRequestPage: {
    good: (ids) => ({ path: { ...ofRequest(ids), pageId: ids.page }, query: { format: 'document' } }),
    sees: () => ({ document: { object: 'document' } }),
  },
  getChangeRequestPdf: {
    good: (ids) => ({ path: ofRequest(ids), query: { page: ids.page, only: true } }),
    sees: () => ({ url: expect.stringMatching(/^http/) }),
    bad: (ids) => ({ path: ofRequest(ids), query: { only: true } }),
    status: 400,
  },
} satisfies Partial<Cases>;
