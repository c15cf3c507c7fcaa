/**
 * The documented operations, written separately from the code: by section, as methods and path. `ORG`, `SPACE`, `CR`
 * and `SITE` stand for the beginnings of paths; `|` separates alternatives.
 * Source: docs/platform-notes.md#sources-of-facts
 */

const BASES: Readonly<Record<string, string>> = {
  ORG: '/orgs/{organizationId}',
  SPACE: '/spaces/{spaceId}',
  CR: '/spaces/{spaceId}/change-requests/{changeRequestId}',
  SITE: '/orgs/{organizationId}/sites/{siteId}',
};

/** Method and path from `/v1`, without the names of its parameters, because documents name them differently. */
export function signature(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`;
}

/** Operations of an entry: of each of its methods, below each of its bases. */
function written(entry: string): readonly string[] {
  const [, methods = '', bases = '', rest = ''] = /^(\S+) ([A-Z|]*)(.*)$/.exec(entry) ?? [];
  return bases
    .split('|')
    .flatMap((base) => methods.split('|').map((method) => signature(method, `/v1${BASES[base] ?? ''}${rest}`)));
}

/** Operations of the API document. It describes the content of change requests in prose. */
const DOCUMENT: Readonly<Record<string, readonly string[]>> = {
  Ask: ['POST SITE/ask'],
  Organizations: [
    'GET /orgs',
    'GET|PATCH ORG',
    'DELETE ORG/link-invites/{inviteId}',
    'POST ORG/join',
    'GET ORG/search',
    'GET ORG/agent-instructions',
    'GET|POST ORG/collections',
  ],
  'Members, teams, team members': [
    'GET ORG/members',
    'GET|PATCH|DELETE ORG/members/{userId}',
    'POST ORG/ping',
    'POST ORG/members/{userId}/sso',
    'GET ORG/members/{userId}/spaces',
    'GET ORG/members/{userId}/teams',
    'GET|PUT ORG/teams',
    'GET|DELETE|PATCH ORG/teams/{teamId}',
    'GET|PUT ORG/teams/{teamId}/members',
    'PUT|DELETE ORG/teams/{teamId}/members/{userId}',
  ],
  'Single sign-on': ['GET|POST ORG/saml', 'GET|DELETE|PATCH ORG/saml/{samlProviderId}', 'GET ORG/sso'],
  Collections: [
    'GET|DELETE|PATCH /collections/{collectionId}',
    'GET /collections/{collectionId}/spaces',
    'POST /collections/{collectionId}/move',
    'POST /collections/{collectionId}/transfer',
  ],
  Spaces: [
    'GET|DELETE|PATCH SPACE',
    'POST SPACE/duplicate',
    'POST SPACE/restore',
    'POST SPACE/move',
    'POST SPACE/transfer',
    'GET SPACE/links',
  ],
  'Space content': [
    'GET SPACE/search',
    'GET SPACE|CR/content',
    'POST SPACE/content/template',
    'GET SPACE|CR/content/pages',
    'GET SPACE|CR/content/files',
    'GET SPACE|CR/content/files/{fileId}',
    'GET SPACE|CR/content/files/{fileId}/backlinks',
    'GET SPACE|CR/content/page/{pageId}',
    'GET SPACE/content/page/{pageId}/links',
  ],
  'Change requests': [
    'GET|POST SPACE/change-requests',
    'GET|PATCH CR',
    'POST CR/merge',
    'POST CR/update',
    'GET CR/pdf',
    'GET ORG/change-requests',
  ],
  Comments: [
    'GET|POST SPACE|CR/comments',
    'GET|PUT|DELETE SPACE|CR/comments/{commentId}',
    'GET|POST SPACE|CR/comments/{commentId}/replies',
    'GET|PUT|DELETE SPACE|CR/comments/{commentId}/replies/{commentReplyId}',
    'GET SPACE|CR/commenters',
  ],
  'Docs sites': [
    'GET|POST ORG/sites',
    'GET|DELETE|PATCH SITE',
    'GET|PUT SITE/adaptive-schema',
    'GET SITE/adaptive-schema/template-conditions',
    'GET SITE/published',
  ],
  'Site spaces, sections, section groups': [
    'GET|POST SITE/site-spaces',
    'DELETE|PATCH SITE/site-spaces/{siteSpaceId}',
    'POST SITE/site-spaces/{siteSpaceId}/move',
    'GET|POST SITE/sections',
    'DELETE|PATCH SITE/sections/{siteSectionId}',
    'POST SITE/sections/{siteSectionId}/move',
    'GET|POST SITE/section-groups',
    'DELETE|PATCH SITE/section-groups/{siteSectionGroupId}',
    'POST SITE/section-groups/{siteSectionGroupId}/sections',
  ],
  Integrations: [
    'GET /integrations',
    'GET|POST|DELETE /integrations/{integrationName}',
    'GET|POST /integrations/{integrationName}/installations',
    'GET /integrations/{integrationName}/events',
    'GET /integrations/{integrationName}/events/{eventId}',
  ],
  Translations: [
    'GET|POST ORG/translations',
    'GET|PUT|DELETE ORG/translations/{translationId}',
    'POST ORG/translations/{translationId}/run',
  ],
  'OpenAPI specifications': ['GET|POST ORG/openapi', 'GET|PUT|DELETE|PATCH ORG/openapi/{specSlug}'],
  Conversations: [
    'GET ORG/conversations-clusters',
    'GET|PATCH ORG/conversations-clusters/{clusterId}',
    'GET|POST ORG/conversations',
    'GET ORG/conversations-issues',
    'GET ORG/conversations-issues/{issueId}',
    'GET ORG/conversations/{conversationId}',
  ],
};

/** Operations of the client and the embedded platform that are not in the document, by their source. */
const BEYOND: Readonly<Record<string, readonly string[]>> = {
  'docs/platform-notes.md#operations-beyond-the-api-document': [
    'GET|POST ORG/spaces',
    'GET SITE/structure',
    'PATCH SITE/structure/sort',
    'POST SITE/publish',
    'POST SITE/unpublish',
    'DELETE SITE/section-groups/{g}/sections/{s}',
    'GET|POST CR/requested-reviewers',
    'DELETE CR/requested-reviewers/{userId}',
    'GET|POST CR/reviews',
    'PUT ORG/agent-instructions',
    'GET|POST ORG/link-invites',
    'GET|PATCH ORG/link-invites/{inviteId}',
    'GET|PATCH|DELETE /integrations/{name}/installations/{id}',
    'GET /integrations/{name}/installations/{id}/spaces',
    'GET /integrations/{name}/installations/{id}/sites',
    'POST /integrations/{name}/installations/{id}/tokens',
    'GET|PUT SITE/customization',
    'GET /',
  ],
  'the published documents from 0.146 on: whose token it is': ['GET /user'],
  'docs/platform-notes.md#section-groups': ['POST SITE/section-groups/{g}/move'],
  'docs/platform-notes.md#context-records': [
    'PUT|GET SITE/context-records',
    'GET SITE/context-records/{id}',
    'GET SITE/topics',
    'GET|PATCH SITE/topics/{id}',
  ],
  'docs/platform-notes.md#findings (0.167)': ['GET SITE/issues', 'GET|PATCH SITE/issues/{id}'],
  'docs/platform-notes.md#findings (0.181)': [
    'GET SITE/findings',
    'GET|PATCH SITE/findings/{id}',
    'GET|POST SITE/findings/{id}/change-requests',
  ],
  'docs/platform-notes.md#external-links': ['POST SITE/external-links', 'PATCH|DELETE SITE/external-links/{id}'],
};

/** Every operation of the API document, and beyond it. */
export const documented: readonly string[] = [...Object.values(DOCUMENT), ...Object.values(BEYOND)]
  .flat()
  .flatMap(written);
