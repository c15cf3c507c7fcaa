import { document } from './fixture.ts';
import { long, ORG, type Row, type Rows, SITE } from './operation-world.ts';

const broken = { ...(document('x') as object), nodes: [{ object: 'text', leaves: [] }] };
const OTHER = '/orgs/org_other';

/** Everything that publishing requires. */
const published = {
  organization: 'org_acme',
  title: 'Zendesk',
  description: 'Tickets',
  script: 'export default {}',
  scopes: ['conversations:ingest'],
};

/** All optional fields. */
const whole = {
  ...published,
  runtime: 'v1',
  icon: 'aWNvbg==',
  summary: long(2048),
  previewImages: ['YQ==', 'Yg==', 'Yw=='],
  visibility: 'unlisted',
  target: 'organization',
  categories: ['content'],
  blocks: [
    { id: 'embed', title: 'Embed', urlUnfurl: ['https://a.example'], markdown: { codeblock: 'x', body: 'content' } },
  ],
  contentSources: [{ id: 'tickets', title: 'Tickets', configuration: { componentId: 'config' } }],
  externalLinks: [{ url: 'https://a.example', label: 'Docs' }],
  configurations: {
    account: { properties: { key: { type: 'string', title: 'Key' } }, required: ['key'] },
    site: { componentId: 'config' },
  },
  secrets: { KEY: 'hush' },
  contentSecurityPolicy: { 'default-src': "'self'" },
};

const refused = (fields: object, says: string): Row => [
  'POST /integrations/new',
  { ...published, ...fields },
  400,
  says,
];
const without = (field: string): Row => refused({ [field]: undefined }, `body.${field}: `);

const integration = '/integrations/zendesk';
const installation = `${integration}/installations/{installation}`;

const integrations: Rows = {
  'integrations listed': [
    ['GET /integrations', 200, { count: 1, items: [{ object: 'integration', name: 'zendesk' }] }],
    ['GET /integrations?search=ZEN', 200, { count: 1 }],
    ['GET /integrations?search=nothing', 200, { count: 0 }],
    ['GET /integrations?category=collaboration', 200, { count: 1 }],
    ['GET /integrations?category=analytics', 200, { count: 0 }],
    ['GET /integrations?blockDomain=acme.zendesk.com', 200, { count: 1 }],
    ['GET /integrations?blockDomain=desk.com', 200, { count: 0 }],
    ['GET /integrations?blocks=true', 200, { count: 1 }],
    ['GET /integrations?blocks=false', 200, { count: 0 }],
    ['GET /integrations?contentSources=false', 200, { count: 1 }],
    ['GET /integrations?contentSources=true', 200, { count: 0 }],
    ['GET /integrations?owner=org_acme', 200, { count: 2 }],
    ['GET /integrations?owner=org_other', 200, { count: 0 }],
    ['GET /integrations?scope=conversations:ingest', 200, { count: 1 }],
    ['GET /integrations?scope=openapi:read', 200, { count: 0 }],
    ['GET /integrations?target=all', 200, { count: 1 }],
    ['GET /integrations?target=site', 200, { count: 0 }],
    [`GET ${integration}`, 200, { version: 1, owner: { id: 'org_acme' }, permissions: { admin: true } }],
    ['GET /integrations/a%20b', 400, 'path.integrationName'],
    [`GET /integrations/${'x'.repeat(101)}`, 400, 'path.integrationName'],
  ],
  'integrations published': [
    ['POST /integrations/new', published, 200, { version: 1, visibility: 'private', target: 'all', categories: [] }],
    ['POST /integrations/a.b-C_1', { ...published, organization: 'other-docs' }, 200, { owner: { id: 'org_other' } }],
    ['POST /integrations/new', whole, 200, { blocks: whole.blocks, configurations: whole.configurations }],
    [`POST ${integration}`, published, 200, { version: 2, owner: { id: 'org_acme' } }],
    [`POST ${integration}`, { ...published, organization: 'org_other' }, 403, 'belongs to another organization'],
    ['POST /integrations/new', { ...published, organization: 'none' }, 404, 'Organization "none" not found'],
    ['POST /integrations/a%20b', published, 400, 'path.integrationName'],
    ...['organization', 'title', 'description', 'script', 'scopes'].map(without),
    refused({ title: 'Z' }, 'body.title: must be 2-30 characters'),
    refused({ title: long(31) }, 'body.title: must be 2-30 characters'),
    refused({ description: long(101) }, 'body.description: must be at most 100 characters'),
    refused({ summary: long(2049) }, 'body.summary: must be at most 2048 characters'),
    refused({ runtime: 'v3' }, 'body.runtime: must be'),
    refused({ icon: 'no base64' }, 'body.icon: must be base64'),
    refused({ previewImages: ['', '', '', ''] }, 'body.previewImages: must have at most 3'),
    refused({ visibility: 'secret' }, 'body.visibility: must be one of public, private, unlisted'),
    refused({ target: 'user' }, 'body.target: must be one of all, site, space, organization'),
    refused({ scopes: ['space:read'] }, 'body.scopes.0: must be one of space:content:read'),
    refused({ categories: ['fun'] }, 'body.categories.0: must be one of analytics'),
    refused({ blocks: [{ id: 'b', title: 'B' }] }, 'body.blocks.0.title: must be 2-40 characters'),
    refused({ blocks: [{ id: 'b', title: 'Bl', description: long(151) }] }, 'body.blocks.0.description'),
    refused({ contentSources: [{ id: 'c', title: 'Co' }] }, 'body.contentSources.0.configuration: required'),
    refused({ externalLinks: [{ url: 'docs', label: 'D' }] }, 'body.externalLinks.0.url: must be an http'),
    refused({ externalLinks: Array(6).fill(whole.externalLinks[0]) }, 'body.externalLinks: must have at most 5'),
    refused({ configurations: { account: {} } }, 'must have either properties or a componentId'),
    refused({ configurations: { account: { properties: {}, required: ['k'] } } }, 'a property that it does not define'),
    refused(
      { configurations: { account: { properties: { k: { type: 'date' } } } } },
      'configurations.account.properties',
    ),
    refused({ configurations: { team: { properties: {} } } }, 'body.configurations.team: unknown field'),
    refused({ secrets: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, ''])) }, 'must have at most 20'),
    refused({ contentSecurityPolicy: { 'default src': '*' } }, 'body.contentSecurityPolicy'),
    refused({ version: 3 }, 'body.version: unknown field'),
    [`DELETE ${integration}`, 205],
    ['DELETE /integrations/a%20b', 400, 'path.integrationName'],
  ],
};

const installations: Rows = {
  installations: [
    [`GET ${integration}/installations`, 200, { count: 1, items: [{ id: '{installation}' }] }],
    [`GET ${integration}/installations?externalId=acme`, 200, { count: 1 }],
    [`GET ${integration}/installations?externalId=other`, 200, { count: 0 }],
    [
      `POST ${integration}/installations`,
      { organization: 'org_other' },
      201,
      {
        status: 'pending',
        space_selection: 'all',
        site_selection: 'all',
        spaces: 0,
        configuration: {},
        externalIds: [],
      },
    ],
    [`POST ${integration}/installations`, { organization: 'org_acme' }, 409, 'already installed'],
    [`POST ${integration}/installations`, { organization: 'none' }, 404, 'Organization "none" not found'],
    ['POST /integrations/secret/installations', { organization: 'org_other' }, 403, 'is private to its owner'],
    [`GET ${installation}`, 200, { status: 'active', spaces: 3, target: { organization: 'org_acme' } }],
    ['GET /integrations/secret/installations/{installation}', 404, 'Installation'],
    [`PATCH ${installation}`, { configuration: {} }, 200, { status: 'pending', externalIds: ['acme'] }],
    [`PATCH ${installation}`, { externalIds: [], space_selection: 'selected' }, 200, { externalIds: [], spaces: 0 }],
    [
      `PATCH ${installation}`,
      { configuration: { key: 'k', free: [1] } },
      200,
      { configuration: { key: 'k', free: [1] } },
    ],
    [`PATCH ${installation}`, { configuration: { key: 7 } }, 400, 'body.configuration.key: must be a string'],
    [
      `PATCH ${installation}`,
      { configuration: { region: 'mars' } },
      400,
      'body.configuration.region: must be one of eu, us',
    ],
    [`GET ${installation}/spaces?limit=1`, 200, { count: 3, items: [{ installation: '{installation}' }] }],
    [`GET ${installation}/spaces?extended=true`, 400, 'query.extended: unknown parameter'],
    [`GET ${installation}/sites`, 200, { count: 2, items: [{ site: '{site}', status: 'active' }, {}] }],
    [`POST ${installation}/tokens`, 200, {}],
    [`POST ${installation}/tokens`, { life: 1 }, 400, 'body.life: unknown field'],
    [`DELETE ${installation}`, 205],
    ['DELETE /integrations/a%20b/installations/none', 400, 'path.integrationName'],
  ],
  'integration events': [
    [
      `GET ${integration}/events?limit=1`,
      200,
      {
        count: 2,
        items: [{ payload: { type: 'installation_setup', status: 'active', previous: { status: 'pending' } } }],
      },
    ],
    [
      `GET ${integration}/events/{event}`,
      200,
      {
        event: { id: '{event}', integrationId: 'zendesk', installationId: '{installation}', status: 'success' },
        trace: { logs: [{ level: 'debug' }, { level: 'info' }] },
      },
    ],
    ['GET /integrations/secret/events/{event}', 404],
  ],
};

const question = { question: 'How do I reset a password?', scope: { mode: 'all' } };
const about = (scope: unknown) => ({ ...question, scope });

const asking: Rows = {
  ask: [
    [`POST ${SITE}/ask`, question, 200],
    [`POST ${SITE}/ask?format=document`, { ...question, context: { siteSpaceId: '{variant}' } }, 200],
    [`POST ${SITE}/ask?format=markdown`, about({ mode: 'default', currentSiteSpace: '{variant}' }), 200],
    [`POST ${SITE}/ask`, about({ mode: 'specific', siteSpaceIds: ['{own}'] }), 200],
    [`POST ${SITE}/ask`, { ...question, question: long(512) }, 200],
    [`POST ${SITE}/ask`, about({ mode: 'specific', siteSpaceIds: [] }), 400, 'at least one site space'],
    [`POST ${SITE}/ask`, about({ mode: 'specific', siteSpaceIds: ['none'] }), 400, 'site space "none" does not exist'],
    [`POST ${SITE}/ask`, about({ mode: 'default', currentSiteSpace: 'none' }), 400, 'body.scope.currentSiteSpace'],
    [`POST ${SITE}/ask`, { ...question, context: { siteSpaceId: 'none' } }, 400, 'body.context.siteSpaceId'],
  ],
};

const joining: Rows = {
  'agent instructions': [
    [`GET ${ORG}/agent-instructions`, 200, { object: 'agent-instructions', updatedBy: '{ana}' }],
    [
      `PUT ${ORG}/agent-instructions`,
      { instructions: document('Be brief') },
      200,
      { instructions: document('Be brief'), updatedAt: '2026-03-01T12:00:00.000Z', updatedBy: '{ana}' },
    ],
    [`PUT ${ORG}/agent-instructions`, { instructions: 'Be brief' }, 400, 'body.instructions.object'],
    [`PUT ${ORG}/agent-instructions`, { instructions: broken }, 400, 'body.instructions.nodes.0'],
  ],
  'invite links and joining': [
    [`GET ${OTHER}/link-invites`, 200, { count: 1, items: [{ object: 'invite', id: '{invite}' }] }],
    [`GET ${ORG}/link-invites`, 200, { count: 0 }],
    [`POST ${OTHER}/link-invites`, { role: null }, 201, { object: 'invite', role: null, redundant: true }],
    [`POST ${ORG}/link-invites`, { role: 'read' }, 400, 'invite links switched off'],
    [`GET ${OTHER}/link-invites/{invite}`, 200, { role: 'edit' }],
    [`GET ${ORG}/link-invites/{invite}`, 404, 'Invite'],
    [`PATCH ${OTHER}/link-invites/{invite}`, { role: 'read' }, 200, { role: 'read' }],
    [`PATCH ${OTHER}/link-invites/{invite}`, { level: 'read' }, 400, 'body.level: unknown field'],
    [`DELETE ${OTHER}/link-invites/{invite}`, 205],
    [`POST ${ORG}/join`, 204],
    [`POST ${ORG}/join`, { role: 'admin' }, 400, 'body.role: unknown field'],
  ],
};

const reviews = '/spaces/{one}/change-requests/{draft}/reviews';
const reviewing: Rows = {
  reviews: [
    [`GET ${reviews}`, 200, { count: 1, items: [{ status: 'changes-requested', outdated: false }] }],
    [`GET ${reviews}?outdated=true`, 200, { count: 0 }],
    [`GET ${reviews}?format=document&outdated=false`, 200, { count: 1 }],
    [`POST ${reviews}`, { status: 'approved' }, 201, { object: 'change-request-review', reviewer: { id: '{ana}' } }],
    [
      `POST ${reviews}`,
      { status: 'approved', comment: { markdown: 'Good' } },
      201,
      {
        status: 'approved',
        outdated: false,
        comment: { body: { markdown: 'Good' }, target: { changeRequest: '{draft}' } },
      },
    ],
    [`POST ${reviews}`, { status: 'approved', comment: { document: broken } }, 400, 'body.comment.document.nodes.0'],
    ['POST /spaces/{one}/change-requests/{merged}/reviews', { status: 'approved' }, 400, 'is merged'],
  ],
};

const both = { light: '#346ddb', dark: '#fff' };
const settings = {
  styling: {
    theme: 'bold',
    primaryColor: both,
    infoColor: both,
    successColor: both,
    warningColor: both,
    dangerColor: both,
    corners: 'straight',
    depth: 'flat',
    links: 'accent',
    font: 'Inter',
    monospaceFont: 'FiraCode',
    icons: 'solid',
    sidebar: { background: 'filled', list: 'pill' },
    background: 'match',
    search: 'subtle',
  },
  internationalization: { locale: 'fr' },
  favicon: { emoji: '1f600' },
  header: { preset: 'default', links: [{ title: 'Home', to: { kind: 'url', url: 'https://a.example' }, links: [] }] },
  footer: { groups: [], copyright: 'Acme' },
  themes: { default: 'dark', toggeable: false },
  pdf: { enabled: false },
  feedback: { enabled: true },
  ai: { mode: 'assistant' },
  advancedCustomization: { enabled: false },
  git: { showEditLink: true },
  pageActions: { externalAI: false, markdown: true, mcp: false },
  externalLinks: { target: 'blank' },
  pagination: { enabled: false },
  trademark: { enabled: false },
  privacyPolicy: { url: 'https://a.example/privacy' },
  socialPreview: {},
  insights: { trackingCookie: false },
};
/** A footer with a reference to a tag, which the platform has from 0.167. */
export const TAGGED = {
  ...settings,
  footer: { groups: [{ title: 'More', links: [{ title: 'News', to: { kind: 'tag', tag: 'news' } }] }] },
};

const looks: Rows = {
  customization: [
    [`GET ${SITE}/customization`, 200, { title: 'Help', styling: { theme: 'clean' }, favicon: {} }],
    [`GET ${SITE}/customization?unmasked=true`, 200],
    [`PUT ${SITE}/customization`, settings, 200, settings],
    [`PUT ${SITE}/customization`, { ...settings, title: 'Acme' }, 200, { title: 'Acme' }],
    [`PUT ${SITE}/customization`, { styling: settings.styling }, 400, 'body.favicon'],
    [`PUT ${SITE}/customization`, { ...settings, favicon: { text: 'A' } }, 400, 'body.favicon.text: unknown field'],
    [`PUT ${SITE}/customization`, { ...settings, css: '' }, 400, 'body.css: unknown field'],
    [`PUT ${SITE}/customization`, TAGGED, 400, 'body: "tag" is not one of its values'],
  ],
};

const schema = `${SITE}/adaptive-schema`;
const claims = (properties: object, others?: object): object => ({
  jsonSchema: { type: 'object', properties, additionalProperties: false, ...others },
});
const vip = { type: 'boolean', description: 'Pays much' };
const unsigned = { type: 'object', description: 'Unsigned claims of the site visitor.', additionalProperties: false };

const adaptive: Rows = {
  'adaptive schemas': [
    [`PUT ${schema}`, claims({ vip, unsigned: { ...unsigned, properties: { vip } } }), 200, claims({ vip })],
    [`PUT ${schema}`, claims({ vip }, { $schema: 'http://json-schema.org/draft-07/schema#' }), 200],
    [
      `PUT ${schema}`,
      claims({ vip }, { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
      400,
      'jsonSchema.$schema',
    ],
    [`PUT ${schema}`, claims({ vip: {} }), 400, 'body.jsonSchema.properties.vip.type'],
    [`PUT ${schema}`, claims({ vip: { type: 'date' } }), 400, 'vip.type: must be one of boolean, string, number'],
    [`PUT ${schema}`, claims({ unsigned: { ...unsigned, properties: { vip: true } } }), 400, 'unsigned.properties.vip'],
    [`PUT ${schema}`, { jsonSchema: { type: 'object' } }, 400, 'body.jsonSchema.properties: required'],
  ],
};

/** Integrations and their resources, the assistant, joining, reviews, and the customization of a site. */
export const integrationRows: Rows = {
  ...integrations,
  ...installations,
  ...asking,
  ...joining,
  ...reviewing,
  ...looks,
  ...adaptive,
};
