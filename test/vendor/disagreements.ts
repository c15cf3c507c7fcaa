/**
 * The known differences between the vendor's OpenAPI documents and the answers of the embedded platform, one by one. The
 * API document wins over the OpenAPI documents. Source: docs/platform-notes.md#sources-of-facts
 *
 * Those of requests are in scripts/operation-corrections.ts.
 */
import { about, adds, answers, differs, type Known, lacks } from './known.ts';

/** Version of the vendor's OpenAPI document that is nearest to the API document. */
const FIRST = ['0.146'] as const;
/** The latest version. */
const LATER = ['0.202'] as const;
const BOTH = [...FIRST, ...LATER] as const;

const customization = [
  ...lacks('SiteCustomizationSettingsBase', 'socialAccounts'),
  ...lacks('SiteCustomizationSettingsBase/properties/pageActions', 'items'),
  ...lacks('SiteCustomizationSettingsBase/properties/styling', 'codeTheme'),
];

/** Fields that 0.202 requires, of resources that 0.146 does not have. */
const newer = [
  ...lacks('Integration/properties/urls', 'publicContentEndpoint'),
  ...lacks('IntegrationInstallation/properties/urls', 'publicContentEndpoint'),
  ...lacks('IntegrationContentInstallationBase/properties/urls', 'publicContentEndpoint'),
  ...lacks('OpenAPISpec', 'lastProcessedErrorCount'),
  ...lacks('SiteMcpServer', 'transport'),
  ...lacks('Organization/properties/permissions', 'access'),
  ...lacks(
    'OrganizationBilling',
    'aiCreditAlertThreshold',
    'canChangeInterval',
    'canCheckout',
    'canUseSAML',
    'creditsBundle',
  ),
  ...lacks('OrganizationMember', 'sites'),
  ...lacks('RevisionBase', 'tags'),
  ...lacks('RevisionPageDocument/allOf/2', 'tags'),
  ...lacks('RevisionPageLayoutOptions', 'actions', 'anchors', 'coverMask', 'tags'),
  ...lacks('SearchPageResult', 'description', 'rank', 'score'),
  ...lacks('SearchSectionResult', 'score'),
  ...lacks('SearchSpaceResult', 'score', 'type'),
  ...lacks('Site', 'appliedType', 'defaultLevel', 'permissions'),
  ...lacks('Site/properties/urls', 'preview'),
  ...lacks('SiteSection', 'draft'),
  ...lacks('SiteSectionGroup', 'draft'),
  ...lacks('SiteSpace', 'draft'),
  ...lacks('TranslationResult', 'language'),
  ...lacks('UserSitePermission', 'disabled'),
  ...customization,
];

/** Fields of a customization that 0.202 has renamed or removed. */
const older = [
  ...adds('SiteCustomizationSettings', 'git', 'pdf'),
  ...adds('SiteCustomizationSettingsBase/properties/pageActions', 'externalAI', 'markdown', 'mcp'),
];

/** All known differences. */
export const DISAGREEMENTS: readonly Known[] = [
  ...about('docs/platform-notes.md#errors', [
    [BOTH, answers(400), 'What is not documented is refused, whichever operation it is sent to.'],
    [BOTH, answers(401), 'Who calls without a valid token is not let in, whichever operation it is.'],
    [BOTH, answers(403), 'What a caller may not do is refused; few operations declare it, and only later ones.'],
    [BOTH, answers(404), 'An unknown id is not found, whichever operation names it.'],
  ]),
  ...about('docs/platform-notes.md#integrations', [
    [BOTH, answers(409, 'installIntegration'), 'What is there already is in conflict with another of it.'],
  ]),
  ...about('docs/platform-notes.md#write-status-codes', [
    [BOTH, answers(204, 'applyTemplateToSpace'), 'Applying a template answers nothing.'],
  ]),
  ...about('docs/platform-notes.md#content-references', [
    [
      FIRST,
      [
        ...adds('DocumentBlockImage/properties/data/properties/ref', 'space'),
        ...adds('DocumentInlineImage/properties/data/properties/ref', 'space'),
      ],
      'A reference to a file names its space; the vendor has it from 0.167 on.',
    ],
  ]),
  ...about('docs/platform-notes.md#search', [
    [
      FIRST,
      adds('SearchPageResult', 'ancestors'),
      'What is found tells what it is below; the vendor has it from 0.167 on.',
    ],
  ]),
  ...about('docs/platform-notes.md#links-and-backlinks', [
    [
      FIRST,
      adds('ContentLocation', 'status', 'relation', 'targetReference', 'locationReferences'),
      'Backlinks are a list of link items.',
    ],
  ]),
  ...about('docs/platform-notes.md#changes-by-version', [
    [
      FIRST,
      differs('SiteStructure/oneOf/0/properties/structure/items/oneOf', 'enum'),
      'Links to elsewhere came in 0.201, and stand among the sections of a site.',
    ],
    [
      FIRST,
      [...adds('Site', 'gitSync', 'permissions'), ...adds('publishSite/responses/200', 'gitSync', 'permissions')],
      'Sites tell about their Git Sync from 0.181 on, and about permissions from 0.201 on.',
    ],
    [
      LATER,
      [...adds('Site', 'agentsContext'), ...adds('publishSite/responses/200', 'agentsContext')],
      'The context of agents was removed in 0.167.',
    ],
    [
      LATER,
      adds('ChangeRequest', 'conversationsIssuesCluster'),
      'Change requests of a cluster went with conversations in 0.167.',
    ],
    [
      LATER,
      adds('Organization/properties/permissions', 'ingestConversations'),
      'The permission went with conversations in 0.167.',
    ],
  ]),
  ...about('docs/platform-notes.md#authentication', [
    [
      BOTH,
      adds('updateOrganizationMemberLastSeenAt/responses/200', 'serviceVisitorClaims'),
      'The claims of a visitor have another name.',
    ],
  ]),
  ...about('docs/platform-notes.md#saml', [
    [
      BOTH,
      lacks('OrganizationSAMLProvider', 'ssoURL', 'entityID', 'certificate'),
      'A provider is created without them, and is pending until it has them.',
    ],
  ]),
  ...about('docs/platform-notes.md#writable-fields', [
    [BOTH, lacks('Space', 'emoji'), 'A space need not have an emoji: null clears it.'],
  ]),
  ...about('docs/platform-notes.md#redirects', [
    [
      FIRST,
      [
        ...adds('SiteRedirect', 'captureWildcard', 'createdAt', 'draft', 'permanent', 'updatedAt'),
        ...differs('SiteRedirectSourcePath', 'pattern'),
        ...differs('SiteRedirectDestination/oneOf', 'enum'),
      ],
      'Redirects lead to addresses, from paths with *, and can be drafts and permanent; the vendor has that later.',
    ],
  ]),
  ...about('docs/platform-notes.md#site-spaces', [
    [FIRST, adds('SiteSpace', 'hidden'), 'A site space may be hidden; the vendor has it from 0.167 on.'],
  ]),
  ...about('docs/platform-notes.md#limits', [
    [
      FIRST,
      differs('OpenAPISpecSlug', 'pattern'),
      'A slug may have capital letters; the vendor allows it from 0.167 on.',
    ],
  ]),
  ...about('docs/platform-notes.md#issue-clusters', [
    [FIRST, differs('ConversationsIssuesCluster/properties/summary', 'type'), 'A summary is a rich document.'],
    [
      FIRST,
      adds('ConversationsIssuesCluster', 'muted', 'impact'),
      'A cluster says whether it is muted, and how bad it is.',
    ],
    [
      FIRST,
      lacks(
        'ConversationsIssuesCluster/properties/stats',
        'tasksTotal',
        'tasksBacklog',
        'tasksStarted',
        'tasksCompleted',
        'tasksCancelled',
      ),
      'Only issues and conversations are counted.',
    ],
    [FIRST, lacks('ConversationsIssuesCluster/properties/urls', 'app'), 'A cluster has no page in the app.'],
    [FIRST, lacks('ConversationIssue', 'summary'), 'An issue has details instead of a summary.'],
    [
      FIRST,
      adds('ConversationIssue', 'details', 'impact'),
      'An issue has details as a rich document, and says how bad it is.',
    ],
  ]),
  ...about('docs/platform-notes.md#conversations', [
    [FIRST, adds('Conversation', 'impact'), 'A conversation says how bad it is.'],
  ]),
  ...about('docs/platform-notes.md#sources-of-facts', [
    [LATER, newer, 'The field came after the version that the API document describes.'],
  ]),
  ...about('docs/platform-notes.md#customization', [
    [LATER, older, 'The field is one of the version that the API document describes.'],
  ]),
];
