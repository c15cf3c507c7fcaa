/**
 * Customization of a site. Details that the API document does not define, such as which parts are required, follow the
 * vendor's OpenAPI document. Its deprecated parts are optional. Source: docs/platform-notes.md#customization
 */
import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { contentRef, referenceKinds } from '../documents/content-reference.ts';
import { invalid, ok } from '../model/answers.ts';
import { type Features, refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, operation, SITE } from '../model/operation.ts';
import { condition, emoji, flag, text, url } from '../model/schema.ts';
import type { SiteRecord } from './records.ts';
import { requireSite } from './views.ts';

const on = z.strictObject({ enabled: z.boolean() });
const color = z.string().regex(/^#(?:[0-9a-fA-F]{3}){1,2}$/, { error: 'must be a colour such as #346ddb' });
const themedColor = z.strictObject({ light: color, dark: color });
const themedUrl = z.strictObject({ light: url(), dark: url() });
const link = z.strictObject({ title: text(0, 64), to: contentRef });
const social = z.strictObject({ url: url().optional() });

const FONTS = [
  'ABCFavorit',
  'Inter',
  'Roboto',
  'RobotoSlab',
  'OpenSans',
  'SourceSansPro',
  'Lato',
  'Ubuntu',
  'Raleway',
  'Merriweather',
  'Overpass',
  'NotoSans',
  'IBMPlexSerif',
  'Poppins',
  'FiraSans',
] as const;

const MONOSPACE_FONTS = [
  'FiraCode',
  'IBMPlexMono',
  'JetBrainsMono',
  'SourceCodePro',
  'RobotoMono',
  'SpaceMono',
  'DMMono',
  'Inconsolata',
] as const;

const ownFont = z.looseObject({
  id: z.string(),
  custom: z.boolean(),
  fontFamily: text(1, 50),
  fontFaces: z.array(z.looseObject({})).min(1),
});

const codeTheme = z.strictObject({ light: z.string(), dark: z.string() });

const styling = z.strictObject({
  theme: z.enum(['clean', 'muted', 'bold', 'gradient']),
  primaryColor: themedColor,
  tint: z.strictObject({ color: themedColor }).optional(),
  infoColor: themedColor,
  successColor: themedColor,
  warningColor: themedColor,
  dangerColor: themedColor,
  corners: z.enum(['straight', 'rounded', 'circular']),
  depth: z.enum(['subtle', 'flat']),
  links: z.enum(['default', 'accent']),
  font: z.union([z.enum(FONTS), ownFont], { error: 'must be a font of the platform, or one of your own' }),
  monospaceFont: z.union([z.enum(MONOSPACE_FONTS), ownFont], {
    error: 'must be a monospace font of the platform, or one of your own',
  }),
  background: z.enum(['plain', 'match']).optional(),
  icons: z.enum(['regular', 'solid', 'duotone', 'light', 'thin']),
  headingFont: z.union([z.enum(FONTS), ownFont, z.null()]).optional(),
  codeTheme: z.strictObject({ default: codeTheme, openapi: codeTheme }).optional(),
  sidebar: z.strictObject({ background: z.enum(['default', 'filled']), list: z.enum(['default', 'pill', 'line']) }),
  search: z.enum(['prominent', 'subtle']),
});

const header = z.strictObject({
  preset: z.enum(['default', 'bold', 'contrast', 'custom', 'none']),
  logo: themedUrl.optional(),
  backgroundColor: themedColor.optional(),
  linkColor: themedColor.optional(),
  primaryLink: contentRef.optional(),
  links: z.array(
    z.strictObject({
      title: z.string(),
      style: z.enum(['link', 'button-primary', 'button-secondary']).optional(),
      to: contentRef.nullable(),
      links: z.array(link),
      condition: condition.optional(),
    }),
  ),
});

const footer = z.strictObject({
  logo: themedUrl.optional(),
  groups: z.array(z.strictObject({ title: z.string(), links: z.array(link) })),
  copyright: text(0, 512).optional(),
});

const announcement = z.strictObject({
  enabled: z.boolean(),
  message: text(2, 128),
  link: link.optional(),
  style: z.enum(['info', 'warning', 'danger', 'success']),
});

const favicon = z.union([z.strictObject({ icon: themedUrl }), z.strictObject({ emoji }), z.strictObject({})], {
  error: 'must be an icon, an emoji, or neither',
});

/** The complete settings, as they are written. */
export const customizationSettings = z.strictObject({
  title: text(2, 128).optional(),
  styling,
  internationalization: z
    .strictObject({ locale: z.enum(['en', 'fr', 'es', 'zh', 'ja', 'de', 'nl', 'no', 'pt-br', 'ru']) })
    .optional(),
  favicon,
  header,
  footer,
  announcement: announcement.optional(),
  themes: z.strictObject({ default: z.enum(['light', 'dark', 'system']), toggeable: z.boolean() }),
  pdf: on.optional(),
  feedback: on,
  ai: z.strictObject({
    mode: z.enum(['none', 'search', 'assistant']),
    suggestions: z.array(text(3, 64)).max(5).optional(),
    greeting: text(0, 256).optional(),
    instructions: text(0, 10_000).optional(),
  }),
  advancedCustomization: on,
  git: z.strictObject({ showEditLink: z.boolean() }).optional(),
  pageActions: z.strictObject({
    externalAI: z.boolean().optional(),
    markdown: z.boolean().optional(),
    mcp: z.boolean().optional(),
    items: z.array(z.enum(['assistant', 'external-ai', 'markdown', 'mcp', 'git', 'pdf'])).optional(),
  }),
  externalLinks: z.strictObject({ target: z.enum(['self', 'blank']) }),
  pagination: on,
  trademark: on,
  privacyPolicy: social,
  socialPreview: social,
  socialAccounts: z
    .array(z.strictObject({ platform: z.string(), handle: text(1, 128), display: z.looseObject({}) }))
    .max(10)
    .optional(),
  insights: z.strictObject({ trackingCookie: z.boolean() }),
});

export type CustomizationSettings = z.output<typeof customizationSettings>;
const both = (hex: string) => ({ light: hex, dark: hex });

/** Settings of a new site: a decision of this emulator. */
const UNTOUCHED: CustomizationSettings = {
  styling: {
    theme: 'clean',
    primaryColor: both('#346DDB'),
    infoColor: both('#787878'),
    successColor: both('#008847'),
    warningColor: both('#FE9A00'),
    dangerColor: both('#FB2C36'),
    corners: 'rounded',
    depth: 'subtle',
    links: 'default',
    font: 'Inter',
    monospaceFont: 'IBMPlexMono',
    background: 'plain',
    icons: 'regular',
    sidebar: { background: 'default', list: 'default' },
    search: 'prominent',
  },
  internationalization: { locale: 'en' },
  favicon: {},
  header: { preset: 'default', links: [] },
  footer: { groups: [] },
  themes: { default: 'light', toggeable: true },
  pdf: { enabled: true },
  feedback: { enabled: false },
  ai: { mode: 'search' },
  advancedCustomization: { enabled: false },
  git: { showEditLink: false },
  pageActions: { externalAI: true, markdown: true, mcp: true },
  externalLinks: { target: 'self' },
  pagination: { enabled: true },
  trademark: { enabled: true },
  privacyPolicy: {},
  socialPreview: {},
  insights: { trackingCookie: true },
};

type Path = readonly [string] | readonly [string, string];

/** Settings that only some versions have, and their value on a new site. Source: docs/platform-notes.md#customization */
interface VersionedSetting {
  readonly path: Path;
  readonly isIn: (features: Features) => boolean;
  /** Absent for a setting that may be left out. */
  readonly untouched?: unknown;
}

const monochrome = { light: 'default-light', dark: 'default-dark' };
const before201 = (features: Features) => !features.pageActionLists;
const from201 = (features: Features) => features.pageActionLists;
const from167 = (features: Features) => features.socialAccounts;

const VERSIONED: readonly VersionedSetting[] = [
  { path: ['pdf'], isIn: before201, untouched: { enabled: true } },
  { path: ['git'], isIn: before201, untouched: { showEditLink: false } },
  { path: ['pageActions', 'externalAI'], isIn: before201, untouched: true },
  { path: ['pageActions', 'markdown'], isIn: before201, untouched: true },
  { path: ['pageActions', 'mcp'], isIn: before201, untouched: true },
  { path: ['pageActions', 'items'], isIn: from201, untouched: ['external-ai', 'markdown', 'mcp', 'pdf'] },
  { path: ['ai', 'greeting'], isIn: from201 },
  { path: ['ai', 'instructions'], isIn: from201 },
  { path: ['styling', 'headingFont'], isIn: from201 },
  { path: ['ai', 'suggestions'], isIn: from167 },
  { path: ['header', 'primaryLink'], isIn: from167 },
  { path: ['socialAccounts'], isIn: from167, untouched: [] },
  { path: ['styling', 'codeTheme'], isIn: from167, untouched: { default: monochrome, openapi: monochrome } },
];

const valueAt = (settings: object, [first, second]: Path): unknown => {
  const value = (settings as Readonly<Record<string, unknown>>)[first];
  return second === undefined ? value : (value as Readonly<Record<string, unknown>> | undefined)?.[second];
};

/** Throws a 400 for settings that this version does not have, or that it requires. */
function checkVersion({ features }: Pick<Context, 'features'>, settings: CustomizationSettings): void {
  for (const { path, isIn, untouched } of VERSIONED) {
    const given = valueAt(settings, path);
    if (given !== undefined && !isIn(features)) {
      throw invalid(`body.${path.join('.')}`, 'unknown field');
    }
    if (given === undefined && isIn(features) && untouched !== undefined) {
      throw invalid(`body.${path.join('.')}`, 'required');
    }
  }
}

/** Returns the settings as this version has them. */
function ofVersion(features: Features, settings: CustomizationSettings): CustomizationSettings {
  const shown = structuredClone(settings) as unknown as Record<string, Record<string, unknown>>;
  for (const { path, isIn, untouched } of VERSIONED) {
    const [first, second = first] = path;
    const holder = path.length === 1 ? shown : (shown[first] ?? {});
    if (!isIn(features)) {
      delete holder[second];
    } else if (untouched !== undefined) {
      holder[second] ??= untouched as never;
    }
  }
  return shown as unknown as CustomizationSettings;
}

/** Renders a site's settings. The title and the deprecated parts are always included. */
export function viewCustomization(
  { features }: Pick<Context, 'features'>,
  site: Pick<SiteRecord, 'title' | 'customization' | 'customizedAt'>,
): unknown {
  const written = (site.customization ?? UNTOUCHED) as unknown as CustomizationSettings;
  const settings = ofVersion(features, written);
  return {
    title: site.title,
    ...settings,
    styling: { background: 'plain', ...settings.styling },
    internationalization: written.internationalization ?? UNTOUCHED.internationalization,
    ...(features.pageActionLists && site.customizedAt !== undefined ? { updatedAt: site.customizedAt } : {}),
  };
}

const CUSTOMIZATION = `${SITE}/customization` as const;

/**
 * Operations on a site's customization, which is read and written as a whole.
 * Source: docs/platform-notes.md#customization
 */
export const customizationOperations: readonly ApiOperation[] = [
  operation(
    'getSiteCustomization',
    'GET',
    CUSTOMIZATION,
    {
      // Deprecated, without effect. Source: docs/platform-notes.md#customization
      query: z.strictObject({ unmasked: flag.optional() }),
    },
    (call) => ok(viewCustomization(call, requireSite(call))),
  ),
  operation('updateSiteCustomization', 'PUT', CUSTOMIZATION, { body: customizationSettings }, (call) => {
    const site = requireSite(call);
    refuseLaterValues(call, 'systemTheme', [call.body.themes.default], 'body.themes.default');
    refuseLaterValues(call, 'contentTags', referenceKinds(call.body), 'body');
    checkVersion(call, call.body);
    const customization = call.body as unknown as JsonObject;
    return ok(viewCustomization(call, call.store.sites.put({ ...site, customization, customizedAt: call.at })));
  }),
];
