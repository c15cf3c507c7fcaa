import { conversations, successors } from './disagreements-of-conversations.ts';
import { newer, older } from './disagreements-of-fields.ts';
import { adds, answers, asked, asks, differs, type Known, known, lacks, unheardOf } from './known.ts';
import { BOTH, FIRST, GONE, LATER } from './sources.ts';

/*
 * The known differences between the vendor's OpenAPI documents and this code, one by one. The API document wins over
 * the OpenAPI documents.
 * Source: docs/platform-notes.md#sources-of-facts
 */

const statuses: readonly Known[] = [
  ...known(BOTH, answers(400), {
    because: 'What is not documented is refused, whichever operation it is sent to.',
    says: 'docs/platform-notes.md#errors',
  }),
  ...known(BOTH, answers(401), {
    because: 'Who calls without a valid token is not let in, whichever operation it is.',
    says: 'docs/platform-notes.md#errors',
  }),
  ...known(BOTH, answers(403), {
    because: 'What a caller may not do is refused; few operations declare it, and only later ones.',
    says: 'docs/platform-notes.md#errors',
  }),
  ...known(BOTH, answers(404), {
    because: 'An unknown id is not found, whichever operation names it.',
    says: 'docs/platform-notes.md#errors',
  }),
  ...known(BOTH, answers(409, 'installIntegration'), {
    because: 'What is there already is in conflict with another of it.',
    says: 'docs/platform-notes.md#integrations',
  }),
  ...known(BOTH, answers(204, 'applyTemplateToSpace'), {
    because: 'Applying a template answers nothing.',
    says: 'docs/platform-notes.md#write-status-codes',
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
      says: 'docs/platform-notes.md#change-requests',
    },
  ),
];

const content: readonly Known[] = [
  ...known(FIRST, [...asks('getPageById', 'dereferenced'), ...asks('getPageInChangeRequestById', 'dereferenced')], {
    because: 'Pages are asked for dereferenced; the vendor has it from 0.167 on.',
    says: 'docs/platform-notes.md#content',
  }),
  ...known(
    FIRST,
    [
      ...adds('DocumentBlockImage/properties/data/properties/ref', 'space'),
      ...adds('DocumentInlineImage/properties/data/properties/ref', 'space'),
      ...asked(adds('ContentRef', 'space')),
    ],
    {
      because: 'A reference to a file names its space; the vendor has it from 0.167 on.',
      says: 'docs/platform-notes.md#content-references',
    },
  ),
  ...known(FIRST, adds('SearchPageResult', 'ancestors'), {
    because: 'What is found tells what it is below; the vendor has it from 0.167 on.',
    says: 'docs/platform-notes.md#search',
  }),
  ...known(FIRST, asked(adds('ApplySpaceTemplate', 'changeRequestId')), {
    because: 'A template is applied to a change request too; the vendor has it from 0.167 on.',
    says: 'docs/platform-notes.md#content',
  }),
  ...known(FIRST, adds('ContentLocation', 'status', 'relation', 'targetReference', 'locationReferences'), {
    because: 'Backlinks are a list of link items.',
    says: 'docs/platform-notes.md#links-and-backlinks',
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
  ...known(BOTH, adds('updateOrganizationMemberLastSeenAt/responses/200', 'serviceVisitorClaims'), {
    because: 'The claims of a visitor have another name.',
    says: 'docs/platform-notes.md#authentication',
  }),
  ...known(BOTH, lacks('OrganizationSAMLProvider', 'ssoURL', 'entityID', 'certificate'), {
    because: 'A provider is created without them, and is pending until it has them.',
    says: 'docs/platform-notes.md#saml',
  }),
  ...known(BOTH, lacks('Space', 'emoji'), {
    because: 'A space need not have an emoji: null clears it.',
    says: 'docs/platform-notes.md#writable-fields',
  }),
  ...known(LATER, unheardOf('POST /spaces/{}/transfer'), {
    because: 'Moving a space to another organization was removed in 0.181.',
    says: GONE,
  }),
];

const sites: readonly Known[] = [
  ...known(FIRST, [...adds('SiteSpace', 'hidden'), ...asked(adds('updateSiteSpaceById/requestBody', 'hidden'))], {
    because: 'A site space may be hidden; the vendor has it from 0.167 on.',
    says: 'docs/platform-notes.md#site-spaces',
  }),
  ...known(FIRST, [...differs('OpenAPISpecSlug', 'pattern'), ...differs('OpenAPISpecSlug', 'pattern', 'request')], {
    because: 'A slug may have capital letters; the vendor allows it from 0.167 on.',
    says: 'docs/platform-notes.md#limits',
  }),
  ...known(
    FIRST,
    [
      ...unheardOf(
        'POST /orgs/{}/sites/{}/external-links',
        'PATCH /orgs/{}/sites/{}/external-links/{}',
        'DELETE /orgs/{}/sites/{}/external-links/{}',
      ),
      ...differs('SiteStructure/oneOf/0/properties/structure/items/oneOf', 'enum'),
    ],
    { because: 'Links to elsewhere came in 0.201, and stand among the sections of a site.', says: GONE },
  ),
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

/** All known differences. */
export const DISAGREEMENTS: readonly Known[] = [
  ...statuses,
  ...conversations,
  ...successors,
  ...changeRequests,
  ...content,
  ...organizations,
  ...sites,
  ...newer,
  ...older,
];
