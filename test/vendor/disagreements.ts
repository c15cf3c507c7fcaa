import { newer, older } from './disagreements-of-fields.ts';
import { adds, answers, asked, asks, differs, type Known, known, lacks, unheardOf } from './known.ts';

/*
 * Where the vendor's documents are known to say otherwise than what is done, one by one. The API document wins over its
 * supplement, and both over what the vendor publishes.
 */

const FIRST = ['0.146'] as const;
const LATER = ['0.202'] as const;
const BOTH = [...FIRST, ...LATER] as const;

const API = 'platform API';
const SUPPLEMENT = 'platform API supplement';
const DIFFER = `${SUPPLEMENT}, section 1`;
const GONE = `${SUPPLEMENT}, section 10`;

const statuses: readonly Known[] = [
  ...known(BOTH, answers(400), {
    because: 'What is not documented is refused, whichever operation it is sent to.',
    says: `${API}, Errors: the codes of validation are not shown`,
  }),
  ...known(BOTH, answers(403), {
    because: 'What a caller may not do is refused; few operations declare it, and only later ones.',
    says: `${SUPPLEMENT}, section 2: Error body`,
  }),
  ...known(BOTH, answers(404), {
    because: 'An unknown id is not found, whichever operation names it.',
    says: `${API}, Errors; ${SUPPLEMENT}, section 2: Error body`,
  }),
  ...known(BOTH, answers(409, 'installIntegration'), {
    because: 'What is there already is in conflict with another of it.',
    says: `${SUPPLEMENT}, section 12: behaviour for duplicates is unknown`,
  }),
  ...known(BOTH, answers(204, 'applyTemplateToSpace'), {
    because: 'Applying a template answers nothing.',
    says: `${API}, Space content; ${DIFFER}: POST SPACE/content/template`,
  }),
];

const conversations: readonly Known[] = [
  ...known(BOTH, unheardOf('PATCH /orgs/{}/conversations-clusters/{}'), {
    because: 'A cluster is muted by updating it.',
    says: `${API}, Conversations; ${DIFFER}: PATCH ORG/conversations-clusters/{id}`,
  }),
  ...known(FIRST, differs('ConversationsIssuesCluster/properties/summary', 'type'), {
    because: 'A summary is a rich document.',
    says: `${DIFFER}: IssuesCluster`,
  }),
  ...known(FIRST, adds('ConversationsIssuesCluster', 'muted', 'impact'), {
    because: 'A cluster says whether it is muted, and how bad it is.',
    says: `${DIFFER}: IssuesCluster`,
  }),
  ...known(
    FIRST,
    lacks(
      'ConversationsIssuesCluster/properties/stats',
      'tasksTotal',
      'tasksBacklog',
      'tasksStarted',
      'tasksCompleted',
      'tasksCancelled',
    ),
    { because: 'Only issues and conversations are counted.', says: `${DIFFER}: IssuesCluster` },
  ),
  ...known(FIRST, lacks('ConversationsIssuesCluster/properties/urls', 'app'), {
    because: 'A cluster has no page in the app.',
    says: `${DIFFER}: IssuesCluster`,
  }),
  ...known(FIRST, asks('listConversationsIssuesClusters', 'sort'), {
    because: 'Clusters are sorted by `sort`.',
    says: `${DIFFER}: Cluster list sorting`,
  }),
  ...known(FIRST, lacks('ConversationIssue', 'summary'), {
    because: 'An issue has details instead of a summary.',
    says: `${DIFFER}: ConversationIssue`,
  }),
  ...known(FIRST, adds('ConversationIssue', 'details', 'impact'), {
    because: 'An issue has details as a rich document, and says how bad it is.',
    says: `${DIFFER}: ConversationIssue`,
  }),
  ...known(FIRST, adds('Conversation', 'impact'), {
    because: 'A conversation says how bad it is.',
    says: `${DIFFER}: Conversation`,
  }),
  ...known(
    LATER,
    unheardOf(
      'POST /orgs/{}/conversations',
      'GET /orgs/{}/conversations',
      'GET /orgs/{}/conversations/{}',
      'GET /orgs/{}/conversations-issues',
      'GET /orgs/{}/conversations-issues/{}',
      'GET /orgs/{}/conversations-clusters',
      'GET /orgs/{}/conversations-clusters/{}',
    ),
    { because: 'Conversations were removed in 0.167; a site’s context records and topics follow them.', says: GONE },
  ),
  ...known(
    LATER,
    [
      ...adds('ChangeRequest', 'conversationsIssuesCluster'),
      ...asks('listChangeRequestsForSpace', 'conversationsIssuesCluster'),
      ...asks('listChangeRequestsForOrganization', 'conversationsIssuesCluster'),
    ],
    { because: 'Change requests of a cluster went with conversations in 0.167.', says: GONE },
  ),
  ...known(LATER, adds('Organization/properties/permissions', 'ingestConversations'), {
    because: 'The permission went with conversations in 0.167.',
    says: GONE,
  }),
];

const changeRequests: readonly Known[] = [
  ...known(
    FIRST,
    asked(
      adds(
        'createChangeRequest/requestBody',
        'template',
        'conversationsIssuesCluster',
        'description',
        'status',
        'anything',
      ),
    ),
    {
      because: 'A change request is created with a template, and with whatever else is sent.',
      says: `${API}, Change requests; ${DIFFER}: Change request creation`,
    },
  ),
];

const content: readonly Known[] = [
  ...known(FIRST, [...asks('getPageById', 'dereferenced'), ...asks('getPageInChangeRequestById', 'dereferenced')], {
    because: 'Pages are asked for dereferenced; the vendor has it from 0.167 on.',
    says: `${DIFFER}: Page query`,
  }),
  ...known(
    FIRST,
    [...adds('DocumentBlockImage/properties/data/properties/ref', 'space'), ...asked(adds('ContentRef', 'space'))],
    {
      because: 'A reference to a file names its space; the vendor has it from 0.167 on.',
      says: `${DIFFER}: file reference`,
    },
  ),
  ...known(FIRST, adds('SearchPageResult', 'ancestors'), {
    because: 'What is found tells what it is below; the vendor has it from 0.167 on.',
    says: `${DIFFER}: space-search ancestors`,
  }),
  ...known(FIRST, asked(adds('ApplySpaceTemplate', 'changeRequestId')), {
    because: 'A template is applied to a change request too; the vendor has it from 0.167 on.',
    says: `${DIFFER}: POST SPACE/content/template`,
  }),
  ...known(FIRST, adds('ContentLocation', 'status', 'relation', 'targetReference', 'locationReferences'), {
    because: 'Backlinks are a list of link items.',
    says: `${API}, Space content: backlinks`,
  }),
  ...known(
    LATER,
    unheardOf(
      'GET /spaces/{}/links',
      'GET /spaces/{}/content/page/{}/links',
      'GET /spaces/{}/content/files/{}/backlinks',
      'GET /spaces/{}/change-requests/{}/content/files/{}/backlinks',
    ),
    { because: 'Listings of links and backlinks were removed in 0.201.', says: GONE },
  ),
];

const organizations: readonly Known[] = [
  ...known(BOTH, differs('MergeRulesStandaloneConfiguration/oneOf', 'enum'), {
    because: 'The merge rules of an organization are `inherit` or `rules`.',
    says: `${DIFFER}: Organization mergeRules.type`,
  }),
  ...known(BOTH, adds('updateOrganizationMemberLastSeenAt/responses/200', 'serviceVisitorClaims'), {
    because: 'The claims of a visitor have another name.',
    says: `${DIFFER}: ORG/ping result field`,
  }),
  ...known(BOTH, lacks('OrganizationSAMLProvider', 'ssoURL', 'entityID', 'certificate'), {
    because: 'A provider is created without them, and is pending until it has them.',
    says: `${SUPPLEMENT}, sections 4 and 6: SAML`,
  }),
  ...known(BOTH, lacks('Space', 'emoji'), {
    because: 'A space need not have an emoji: null clears it.',
    says: `${SUPPLEMENT}, section 6: Space`,
  }),
  ...known(LATER, [...differs('OrganizationTitle', 'pattern'), ...differs('OrganizationTitle', 'pattern', 'request')], {
    because: 'A title may be blank; the vendor asks for more from 0.167 on.',
    says: `${SUPPLEMENT}, section 5: Organization title`,
  }),
  ...known(LATER, unheardOf('POST /spaces/{}/transfer'), {
    because: 'Moving a space to another organization was removed in 0.181.',
    says: GONE,
  }),
];

const sites: readonly Known[] = [
  ...known(FIRST, [...adds('SiteSpace', 'hidden'), ...asked(adds('updateSiteSpaceById/requestBody', 'hidden'))], {
    because: 'A site space may be hidden; the vendor has it from 0.167 on.',
    says: `${DIFFER}: Site space hidden`,
  }),
  ...known(FIRST, [...differs('OpenAPISpecSlug', 'pattern'), ...differs('OpenAPISpecSlug', 'pattern', 'request')], {
    because: 'A slug may have capital letters; the vendor allows it from 0.167 on.',
    says: `${DIFFER}: OpenAPI slug`,
  }),
  ...known(
    BOTH,
    [
      ...lacks('SiteAdaptiveJSONSchema', 'additionalProperties'),
      ...lacks(
        'SiteAdaptiveJSONSchema/properties/properties/properties/unsigned',
        'additionalProperties',
        'description',
      ),
      ...asked(lacks('SiteAdaptiveJSONSchema', 'additionalProperties')),
      ...asked(
        lacks(
          'SiteAdaptiveJSONSchema/properties/properties/properties/unsigned',
          'additionalProperties',
          'description',
        ),
      ),
    ],
    {
      because: 'The schema of claims is any JSON Schema of draft 7.',
      says: `${API}, Docs sites: PUT SITE/adaptive-schema`,
    },
  ),
  ...known(FIRST, unheardOf('POST /orgs/{}/sites/{}/external-links'), {
    because: 'Links to elsewhere came in 0.201; before, they are not found.',
    says: GONE,
  }),
  ...known(
    LATER,
    [
      ...adds('Site', 'agentsContext'),
      ...adds('publishSite/responses/200', 'agentsContext'),
      ...asked(adds('updateSiteById/requestBody', 'agentsContext')),
    ],
    { because: 'The context of agents was removed in 0.167.', says: GONE },
  ),
  ...known(
    LATER,
    unheardOf(
      'POST /orgs/{}/sites/{}/section-groups/{}/sections',
      'DELETE /orgs/{}/sites/{}/section-groups/{}/sections/{}',
    ),
    { because: 'Sections join and leave groups by their own update from 0.181 on.', says: GONE },
  ),
];

/** Every one of them. */
export const DISAGREEMENTS: readonly Known[] = [
  ...statuses,
  ...conversations,
  ...changeRequests,
  ...content,
  ...organizations,
  ...sites,
  ...newer,
  ...older,
];
