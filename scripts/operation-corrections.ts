/**
 * Where the table of operations differs from the vendor's documents, each with its reason. The API document wins over
 * them. Source: docs/platform-notes.md#sources-of-facts
 */
import type { RequestNode } from '../src/platform/operations/model/request-schema.ts';
import type { TableLine } from '../src/platform/operations/table.ts';
import type { Repeat } from '../src/queue/request.ts';
import { RICH_DOCUMENT } from './vendor-schemas.ts';

/** Repeats after a lost response that differ from the rule: a GET is safe, a POST is never repeated, the rest may be. */
export const REPEATS: Readonly<Record<string, Repeat>> = {
  // The question changes nothing.
  askSite: 'safe',
  // The request has no key, so each one creates another.
  createCustomFont: 'never',
  createTeam: 'never',
  // The request sets a state, or a later time.
  markMemberSso: 'idempotent',
  pingOrganization: 'idempotent',
  publishSite: 'idempotent',
  unpublishSite: 'idempotent',
  // The request names the neighbor.
  moveSection: 'idempotent',
  moveSectionGroup: 'idempotent',
  moveSiteSpace: 'idempotent',
};

/** Requests that take the place of background work in the limits. */
export const INGEST: readonly string[] = ['ingestConversations', 'putContextRecords'];

interface Correction {
  /** Operations, each with a place in its request: `updateSite body.proxy`, `putContextRecords body[].id`. */
  readonly at: readonly string[];
  readonly change: (node: RequestNode) => RequestNode;
  readonly because: string;
}

const text: RequestNode = { type: 'string' };

/** Adds limits to what the documents say. */
function limits(more: RequestNode): Correction['change'] {
  return (node) => ({ ...node, ...more });
}

/** Adds members, and whatever else. */
function fields(properties: NonNullable<RequestNode['properties']>, more: RequestNode = {}): Correction['change'] {
  return (node) => ({ ...node, ...more, properties: { ...node.properties, ...properties } });
}

/** Opens every object and requires nothing. */
function loose({ required: _, properties, anyOf, items, ...node }: RequestNode): RequestNode {
  const members = Object.entries(properties ?? {}).map(([name, member]) => [name, loose(member)]);
  return {
    ...node,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(members), additionalProperties: true }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(loose) }),
    ...(items === undefined ? {} : { items: loose(items) }),
  };
}

/** Takes the mark of a version from a member. */
function inEveryVersion({ only: _, ...node }: RequestNode): RequestNode {
  return node;
}

/** Adds a null for the one of emoji and icon that a choice lacks. */
function clearingTheOther({ properties = {}, ...node }: RequestNode): RequestNode {
  return { ...node, properties: { emoji: { type: 'null' }, icon: { type: 'null' }, ...properties } };
}

const NOTES = 'docs/platform-notes.md';

const CORRECTIONS: readonly Correction[] = [
  {
    at: ['createChangeRequest body'],
    change: fields({ conversationsIssuesCluster: text, description: RICH_DOCUMENT }, { additionalProperties: true }),
    because: `It is created with whatever else is sent. ${NOTES}#change-requests`,
  },
  {
    at: ['createChangeRequest body.subject', 'requestReviewers body.subject'],
    change: limits({ maxLength: 100 }),
    because: `A subject has a limit. ${NOTES}#limits`,
  },
  {
    at: ['requestReviewers body.users'],
    change: limits({ minItems: 1 }),
    because: `A request of nobody is refused. ${NOTES}#reviews`,
  },
  {
    at: ['listConversationClusters query'],
    change: fields({ sort: text }),
    because: `Clusters are sorted by "sort". ${NOTES}#filters`,
  },
  {
    at: ['updateSiteSpace body.hidden'],
    change: inEveryVersion,
    because: `A site space may be hidden in the version of the API document too. ${NOTES}#site-spaces`,
  },
  {
    at: ['getSpacePage query.dereferenced', 'getChangeRequestPage query.dereferenced'],
    change: inEveryVersion,
    because: `Pages are dereferenced in the version of the API document too. ${NOTES}#content`,
  },
  {
    at: ['applySpaceTemplate body.changeRequestId'],
    change: inEveryVersion,
    because: `A template is applied to a change request in the version of the API document too. ${NOTES}#content`,
  },
  {
    at: ['updateOrganization body.title'],
    change: limits({ pattern: '\\S.*\\S' }),
    because: `A title has two visible characters on one line. ${NOTES}#limits`,
  },
  {
    at: ['updateOrganization body.mergeRules'],
    change: ({ anyOf = [] }) => ({
      anyOf: [
        ...anyOf,
        {
          type: 'object',
          properties: { type: { type: 'string', enum: ['inherit'] } },
          required: ['type'],
          additionalProperties: false,
        },
      ],
    }),
    because: `The documents disagree on whether an organization can inherit rules. ${NOTES}#merge-rules`,
  },
  {
    at: ['updateMember body'],
    change: limits({ required: ['role'] }),
    because: `The role is all that can be changed; null makes a guest. ${NOTES}#roles`,
  },
  {
    at: ['createSpace body.emoji', 'updateSpace body.emoji'],
    change: limits({ minLength: 1 }),
    because: `An emoji is not empty; null clears it. ${NOTES}#limits`,
  },
  {
    at: ['updateSpace body'],
    change: ({ anyOf = [] }) => ({ anyOf: anyOf.map(clearingTheOther) }),
    because: `A space has an emoji or an icon; null clears the other. ${NOTES}#writable-fields`,
  },
  {
    at: ['moveCollection body', 'moveSpace body'],
    change: limits({ minProperties: 1 }),
    because: `A move that changes nothing is refused. ${NOTES}#moves-and-transfers`,
  },
  {
    at: [
      'moveSection body.position',
      'moveSectionGroup body.position',
      'moveSiteSpace body.position',
      'sortSiteStructure body.position',
    ],
    change: limits({ minProperties: 1, maxProperties: 1 }),
    because: `An item moves before or after one other. ${NOTES}#site-structure`,
  },
  {
    at: ['moveSection body', 'moveSectionGroup body', 'moveSiteSpace body'],
    change: limits({ required: ['position'] }),
    because: `A move names a neighbor. ${NOTES}#site-structure`,
  },
  {
    at: ['searchOrganization query.query', 'searchSpace query.query', 'askSite body.question'],
    change: limits({ minLength: 1, maxLength: 512 }),
    because: `A query has limits. ${NOTES}#limits`,
  },
  {
    at: ['putContextRecords body[].id'],
    change: limits({ minLength: 1 }),
    because: `Without an id, a record cannot be found again. ${NOTES}#context-records`,
  },
  {
    at: ['updateAdaptiveSchema body.jsonSchema'],
    change: () => ({ type: 'object' }),
    because: `It is any JSON Schema of draft 7. ${NOTES}#sites`,
  },
  {
    at: ['updateSiteCustomization body'],
    change: loose,
    because: `What was read is sent back, with members of other versions. ${NOTES}#customization`,
  },
];

/** Operations that no document of the vendor's packages has. */
const ADDED: readonly TableLine[] = [
  // Only the API document has it. Source: docs/platform-notes.md#issue-clusters
  {
    ...operation('updateConversationCluster', 'PATCH', '/conversations-clusters/{clusterId}'),
    summary: 'Mutes an issue cluster for change requests, or unmutes it.',
    versions: [],
    body: object({ muted: { type: 'boolean' } }),
  },
  // Issues of a site were in 0.167 only. Source: docs/platform-notes.md#changes-by-version
  {
    ...operation('listSiteIssues', 'GET', '/sites/{siteId}/issues'),
    summary: 'Lists the issues of a site (0.167).',
    paginated: true,
    query: {
      type: 'object',
      properties: {
        page: text,
        limit: { type: 'number', minimum: 0, maximum: 1000 },
        topic: text,
        status: { type: 'string', enum: ['open', 'done', 'canceled'] },
        priority: { type: 'string', enum: ['low', 'medium', 'high'] },
      },
      additionalProperties: false,
    },
  },
  {
    ...operation('getSiteIssue', 'GET', '/sites/{siteId}/issues/{siteIssueId}'),
    summary: 'Returns an issue of a site (0.167).',
  },
  {
    ...operation('updateSiteIssue', 'PATCH', '/sites/{siteId}/issues/{siteIssueId}'),
    summary: 'Sets the status of an issue of a site (0.167).',
    body: object({ status: { type: 'string', enum: ['open', 'done', 'canceled'] } }),
  },
];

function operation(name: string, method: 'GET' | 'PATCH', path: string): Omit<TableLine, 'summary'> {
  const rest =
    method === 'GET'
      ? ({ class: 'read', repeat: 'safe' } as const)
      : ({ class: 'write', repeat: 'idempotent' } as const);
  return {
    name,
    method,
    path: `/v1/orgs/{organizationId}${path}`,
    versions: ['0.167'],
    ...rest,
    hasAnswer: true,
    success: [200],
  };
}

function object(properties: Readonly<Record<string, RequestNode>>): RequestNode {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Returns the corrected operations. Throws if a correction finds nothing to change. */
export function correct(lines: readonly TableLine[]): readonly TableLine[] {
  const corrected = new Map(lines.map((line) => [line.name, line]));
  for (const { at, change } of CORRECTIONS) {
    for (const [name = '', place = ''] of at.map((one) => one.split(' '))) {
      const line = corrected.get(name);
      const [part = '', ...steps] = place.split(/\.|(?=\[\])/);
      const node = line?.[part as 'query' | 'body'];
      if (line === undefined || node === undefined) {
        throw new Error(`no place for a correction: ${name} ${place}`);
      }
      corrected.set(name, { ...line, [part]: changeAt(node, steps, change) });
    }
  }
  return [...corrected.values(), ...ADDED];
}

function changeAt(node: RequestNode, [step, ...rest]: readonly string[], change: Correction['change']): RequestNode {
  if (step === undefined) {
    return change(node);
  }
  if (node.anyOf !== undefined) {
    const has = (choice: RequestNode) => choice.properties?.[step]?.type === 'string';
    return { anyOf: node.anyOf.map((choice) => (has(choice) ? changeAt(choice, [step, ...rest], change) : choice)) };
  }
  const inner = step === '[]' ? node.items : node.properties?.[step];
  if (inner === undefined) {
    throw new Error(`no place for a correction: ${step}`);
  }
  const changed = changeAt(inner, rest, change);
  return step === '[]' ? { ...node, items: changed } : { ...node, properties: { ...node.properties, [step]: changed } };
}
