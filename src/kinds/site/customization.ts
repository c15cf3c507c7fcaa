/** The customization of a site: only what is declared is compared and written, and everything else is kept. */
import { z } from 'zod';
import { isObject, type Json, type JsonObject, shownJson } from '../../core/json.ts';
import type { PartComparison } from '../../plan/rules.ts';
import type { Reader } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import { isNullable, type RequestNode } from '../../platform/operations/model/request-schema.ts';
import { allOperations } from '../../platform/operations/table.ts';
import type { Field } from '../model/field-table.ts';
import { type Detail, type PlannedRequest, type Ref, request, unlessMissing } from '../model/kind.ts';
import { mappingOrFile } from '../model/schema.ts';

/** Members that null removes. Source: docs/platform-notes.md#customization */
const REMOVABLE = [
  ...['title', 'localizedTitle', 'announcement', 'header.logo', 'header.primaryLink', 'header.backgroundColor'],
  ...['header.linkColor', 'footer.logo', 'footer.copyright', 'styling.tint', 'styling.headingFont'],
  ...['privacyPolicy.url', 'socialPreview.url', 'announcement.link', 'ai.greeting', 'ai.instructions'],
];

/** Schema of a whole customization: what was read is written with it, so it is open. */
const whole = (): RequestNode => operations.updateSiteCustomization.body?.json ?? {};
/** Schema of the override of a site space, which no kind writes: closed, and complete in the items of lists. */
const override = (): RequestNode =>
  allOperations().find(({ name }) => name === 'overrideSiteSpaceCustomizationById')?.body?.json ?? {};

/** Meaning of the members at the top, for the reference page and for editors. */
const MEANINGS: Readonly<Record<string, string>> = {
  advancedCustomization: 'Advanced customization of spaces.',
  ai: 'The assistant and the search of the site.',
  announcement: 'A banner above all pages; `null` removes it.',
  externalLinks: 'Where links to other sites open.',
  favicon: 'The icon in the tab of a browser: `{ icon: … }`, `{ emoji: … }`, or `{}` for that of the platform.',
  feedback: 'Whether visitors can rate pages.',
  footer: 'Groups of links, logo and copyright below all pages.',
  git: 'Whether pages link to their source. Until platform 0.181.',
  header: 'Logo and links above all pages.',
  insights: 'Whether a cookie recognizes visitors.',
  internationalization: 'The language of the interface. The platform takes it from the spaces instead.',
  localizedTitle: 'The title by language. From platform 0.181 on.',
  pageActions: 'The menu of a page: `items` from platform 0.201 on, the other members before.',
  pagination: 'Whether pages link to the next and the previous one.',
  pdf: 'Whether visitors can export pages. Until platform 0.181.',
  privacyPolicy: 'The privacy policy; without one, that of the platform.',
  socialAccounts: 'Accounts in social networks. From platform 0.167 on.',
  socialPreview: 'The image of the site in social networks.',
  styling: 'Theme, colors, fonts and shapes.',
  themes: 'Light and dark mode.',
  title: 'The title that visitors see; `null` means that of the site.',
  trademark: 'Whether the name of the platform is shown.',
};

/** The favicon of the platform. */
const EMPTY: RequestNode = { type: 'object', properties: {}, additionalProperties: false };

/**
 * Returns the schema of what a manifest can declare: mappings are closed and have no required members. Lists and choices are
 * written as a whole.
 */
function declarable(open: RequestNode, strict: RequestNode | undefined, path: readonly string[]): DescribedNode {
  const { properties } = open;
  const isScalar = open.items === undefined && open.anyOf === undefined;
  const node =
    properties === undefined
      ? isScalar
        ? open
        : closed(strict === undefined ? open : withoutNull(strict), path)
      : {
          type: 'object',
          additionalProperties: false,
          properties: mapMembers(properties, (name, member) =>
            declarable(member, strict?.properties?.[name], [...path, name]),
          ),
        };
  const { only: _, ...rest } = withoutNull(node);
  const choices = path.join('.') === 'favicon' ? [...(rest.anyOf ?? []), EMPTY] : undefined;
  const noted = { ...rest, ...(choices && { anyOf: choices }), ...notesOn(path, rest) };
  return REMOVABLE.includes(path.join('.'))
    ? { anyOf: [noted, { type: 'null' }], description: meaningOf(path) }
    : noted;
}

type DescribedNode = RequestNode & { readonly description?: string; readonly examples?: readonly unknown[] };

/** Examples for editors, by the name of the member. Others are ids. */
const EXAMPLES: Readonly<Record<string, string>> = {
  title: 'Acme Help',
  greeting: 'How can I help?',
  instructions: 'Answer briefly.',
  message: 'Version 2 is out',
  copyright: '© Acme',
  condition: 'visitor.claims.plan == "pro"',
  emoji: '1f4d8',
  fontFamily: 'Acme Sans',
  handle: 'acme',
};

function notesOn(path: readonly string[], { type, enum: values, pattern, format }: RequestNode) {
  const words = EXAMPLES[path.at(-1) ?? ''] ?? 'abc123';
  const example = format === 'uri' ? 'https://acme.example/image.png' : pattern === undefined ? words : '#346ddb';
  const isText = [type].flat().includes('string');
  const examples = type === 'integer' ? [400] : isText ? [values?.[0] ?? example] : undefined;
  return { description: meaningOf(path), ...(examples && { examples }) };
}

/** Closes the mappings in a list or a choice. */
function closed(node: RequestNode, path: readonly string[]): DescribedNode {
  const { only: _, properties, items, anyOf, ...rest } = node;
  return {
    ...rest,
    ...notesOn(path, node),
    ...(properties && {
      properties: mapMembers(properties, (name, member) => closed(member, [...path, name])),
      additionalProperties: false,
    }),
    ...(items && { items: closed(items, path) }),
    ...(anyOf && { anyOf: anyOf.map((each) => closed(each, path)) }),
  };
}

function mapMembers<T>(
  properties: NonNullable<RequestNode['properties']>,
  change: (name: string, node: RequestNode) => T,
) {
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, change(name, member)]));
}

/** Meaning of members below the top, by name, where it is not clear from the name. */
const INNER_MEANINGS: Readonly<Record<string, string>> = {
  condition: 'Expression that decides which visitors see it.',
  custom: 'The id of a custom font.',
  dark: 'For dark mode.',
  display: 'Places that show it.',
  emoji: 'An emoji, as its code point.',
  enabled: 'Whether it is on.',
  externalAI: 'Whether a page can be opened in other assistants.',
  fontFaces: 'Files of the font, one for each weight.',
  footer: 'Whether the footer shows it.',
  handle: 'The name of the account.',
  header: 'Whether the header shows it.',
  instructions: 'Instructions for the assistant.',
  items: 'The entries of the menu, in order.',
  light: 'For light mode.',
  list: 'The style of the list of pages.',
  locale: 'The language.',
  localizedGreeting: 'The greeting by language.',
  localizedMessage: 'The text by language.',
  localizedTitle: 'The title by language.',
  markdown: 'Whether a page can be copied as Markdown.',
  mcp: 'Whether the MCP server of the site is offered.',
  message: 'The text.',
  openapi: 'For descriptions of APIs.',
  platform: 'The social network.',
  showEditLink: 'Whether the link is shown.',
  suggestions: 'Questions that are suggested to visitors.',
  target: 'In the same tab (`self`), or in a new one (`blank`).',
  tint: 'The color of surfaces.',
  to: 'The place that it opens.',
  toggeable: 'Whether visitors can choose the mode.',
  trackingCookie: 'Whether a cookie is set.',
  url: 'The address.',
};

/** `The primary color.` for members below the top whose name says it all. */
function meaningOf(path: readonly string[]): string {
  const [last = ''] = path.toReversed();
  const meanings = path.length === 1 ? MEANINGS : INNER_MEANINGS;
  const words = last.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return meanings[last] ?? `The ${words}.`;
}

function withoutNull(node: RequestNode): RequestNode {
  const { type, anyOf: all } = node;
  if (Array.isArray(type)) {
    const [only = 'null'] = type.filter((each) => each !== 'null');
    return { ...node, type: only };
  }
  const anyOf = all?.filter((each) => each.type === undefined || [each.type].flat().some((name) => name !== 'null'));
  const [only] = anyOf ?? [];
  return anyOf?.length === 1 && only !== undefined ? only : anyOf === undefined ? node : { ...node, anyOf };
}

/** Made when the first entry has a customization: most commands read none. */
const shape = z.lazy(() => z.fromJSONSchema(declarable(whole(), override(), []) as z.core.JSONSchema.JSONSchema));

/**
 * Reduces a declared and an actual customization to what can be compared. Members of other versions are left out: from 0.201
 * on, `pageActions.items` shows the version. Source: docs/platform-notes.md#customization
 */
function compare(declared: Json, actual: Json): PartComparison {
  const actions = isObject(actual) && isObject(actual.pageActions) ? actual.pageActions : {};
  return compareNode(whole(), declared, actual, '', actions.items !== undefined);
}

function compareNode(
  node: RequestNode,
  declared: Json,
  actual: Json,
  path: string,
  isCurrent: boolean,
): PartComparison {
  const { properties } = node;
  if (properties === undefined || !isObject(declared)) {
    return { declared, actual, unsupported: [] };
  }
  const before: JsonObject = isObject(actual) ? (actual as JsonObject) : {};
  const members = Object.entries(declared as JsonObject).map(([name, value = null]) => {
    const member = properties[name] ?? {};
    const isKnown = member.only === undefined || before[name] !== undefined || (member.only === '0.202' && isCurrent);
    const at = path === '' ? name : `${path}.${name}`;
    return isKnown || value === null
      ? { name, ...compareNode(member, value, before[name] ?? null, at, isCurrent) }
      : { name, declared: null, actual: null, unsupported: [at] };
  });
  const supported = members.filter(
    ({ name, unsupported }) => !unsupported.includes(path === '' ? name : `${path}.${name}`),
  );
  return {
    declared: Object.fromEntries(supported.map(({ name, declared: value }) => [name, value])),
    actual: Object.fromEntries(supported.map(({ name, actual: value }) => [name, value])),
    unsupported: members.flatMap(({ unsupported }) => unsupported),
  };
}

/** Lays the declared part over what the platform has. Null removes a member that cannot be null. */
function overlay(node: RequestNode, now: Json | undefined, declared: Json): Json {
  const { properties } = node;
  if (properties === undefined || !isObject(declared)) {
    return declared;
  }
  const next: Record<string, Json | undefined> = { ...(isObject(now) ? (now as JsonObject) : {}) };
  for (const [name, value = null] of Object.entries(declared as JsonObject)) {
    const member = properties[name] ?? {};
    next[name] = value === null && !isNullable(member) ? undefined : overlay(member, next[name], value);
  }
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
}

/** Colors are the same in upper and lower case. */
function inLowerCase(value: Json): Json {
  if (typeof value === 'string') {
    return /^#(?:[0-9a-f]{3}){1,2}$/i.test(value) ? value.toLowerCase() : value;
  }
  if (Array.isArray(value)) {
    return value.map(inLowerCase);
  }
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value as JsonObject).map(([name, member = null]) => [name, inLowerCase(member)]),
      )
    : value;
}

/** Returns the members that a manifest can declare, of what was read. */
function known(node: RequestNode, value: Json): Json {
  const { properties } = node;
  return properties === undefined || !isObject(value)
    ? value
    : Object.fromEntries(
        Object.entries(value as JsonObject).flatMap(([name, member = null]) =>
          properties[name] === undefined ? [] : [[name, known(properties[name], member)]],
        ),
      );
}

/** Branding, navigation and behavior of a site. Source: docs/platform-notes.md#customization */
export const customizationField: Field = {
  schema: mappingOrFile(shape).describe(
    'How the site looks and behaves: only the members that are written are managed. `{ file: branding.yaml }` shares a file with other sites (see [Branding](site-settings.md#branding)).',
  ),
  isListed: false,
  part: compare,
  normalize: inLowerCase,
  unsupportedNote: 'customization was not compared: the platform does not return that of this site',
  // A site that nobody has customized has no time of a change. Versions that return none are left out as well.
  toEntry: (value, context) =>
    isObject(value) && typeof value.updatedAt === 'string'
      ? context.file('customization', 'json', `${shownJson(known(whole(), value as Json))}\n`)
      : undefined,
};

/** Reads the customization of a site. */
export async function readCustomization({ id }: { readonly id: string }, reader: Reader): Promise<Detail> {
  const answer = await unlessMissing(reader.get(operations.getSiteCustomization, { path: { siteId: id } }));
  return answer === null ? {} : { fields: { customization: answer as Json } };
}

/** Returns the request that writes the declared part of a customization over what the platform has at that moment. */
export function customizationWrite(path: { readonly siteId: Ref }, declared: Json): PlannedRequest {
  return request(
    operations.updateSiteCustomization,
    { path, body: {} },
    {
      complete: async (input, reader) => {
        const { path: filled } = input as { readonly path: { readonly siteId: string } };
        const { updatedAt: _, ...now } = (await reader.get(operations.getSiteCustomization, {
          path: filled,
        })) as JsonObject;
        return { path: filled, body: overlay(whole(), now, compare(declared, now).declared) };
      },
    },
  );
}
