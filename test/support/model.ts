/** Plain-data models of manifests. */

import { kinds } from '../../src/kinds/registry.ts';
import { ADDRESSES, NAMES } from './certificates.ts';

/** Manifests as plain data: the same shape as the YAML, with references by key. */
export interface Model {
  organization?: OrganizationModel | undefined;
  members: Record<string, { role: string | null }>;
  teams: Record<string, TeamModel>;
  saml: Record<string, SamlModel>;
  collections: Record<string, CollectionModel>;
  spaces: Record<string, SpaceModel>;
  openapi: Record<string, SpecModel>;
  translations: Record<string, TranslationModel>;
  sites: Record<string, SiteModel>;
}

export interface OrganizationModel {
  title?: string | undefined;
  emailDomains?: string[] | undefined;
  defaultRole?: string | null | undefined;
  defaultContent?: { site: string } | null | undefined;
  ai?: boolean | undefined;
}

export interface TeamModel {
  title: string;
  membership?: 'exact' | 'additive' | undefined;
  members?: Record<string, string> | undefined;
}

export interface SamlModel {
  label: string;
  entityID?: string | undefined;
  defaultTeam?: string | undefined;
  defaultRole?: string | null | undefined;
}

/** Roles of teams by key, and of people by email address. */
export interface PermissionsModel {
  membership?: 'exact' | 'additive' | undefined;
  teams?: Record<string, string> | undefined;
  members?: Record<string, string> | undefined;
}

export interface CollectionModel {
  title: string;
  description?: string | undefined;
  parent?: string | null | undefined;
  defaultLevel?: string | null | undefined;
  permissions?: PermissionsModel | undefined;
}

export interface SpaceModel {
  title: string;
  emoji?: string | null | undefined;
  icon?: string | null | undefined;
  collection?: string | null | undefined;
  language?: string | undefined;
  editMode?: string | undefined;
  defaultLevel?: string | null | undefined;
  permissions?: PermissionsModel | undefined;
}

export interface SpecModel {
  source: { url: string } | { file: string };
  visibility?: string | undefined;
}

export interface TranslationModel {
  space: string;
  from: string;
  to: string;
  instructions?: string | undefined;
}

export interface SiteModel {
  title: string;
  visibility?: string | undefined;
  published?: boolean | undefined;
  proxy?: string | null | undefined;
  adaptiveContent?: { enabled: boolean } | undefined;
  default?: string | undefined;
  redirects?: RedirectModel[] | undefined;
  mcpServers?: Readonly<Record<string, { readonly name: string }>> | undefined;
  shareLinks?: Readonly<Record<string, { readonly name: string }>> | undefined;
  structure: ItemModel[];
}

export interface RedirectModel {
  from: string;
  to: string | { section: string } | { siteSpace: string };
  permanent?: boolean | undefined;
  captureWildcard?: boolean | undefined;
  draft?: boolean | undefined;
}

export type ItemModel = SectionModel | GroupModel | SiteSpaceModel;

export interface SectionModel extends LaterFields {
  section: string;
  title: string;
  icon?: string | null | undefined;
  path?: string | undefined;
  description?: string | null | undefined;
  condition?: string | null | undefined;
  default?: string | undefined;
  spaces: SiteSpaceModel[];
}

/** Fields that only later versions have. */
interface LaterFields {
  draft?: boolean | undefined;
  localizedTitle?: Record<string, string> | null | undefined;
}

export interface GroupModel extends LaterFields {
  group: string;
  title: string;
  icon?: string | null | undefined;
  items: (SectionModel | GroupModel)[];
}

export interface SiteSpaceModel extends Pick<LaterFields, 'draft'> {
  key: string;
  space: string;
  path?: string | undefined;
  condition?: string | null | undefined;
  hidden?: boolean | undefined;
}

/** Texts of the files that manifests name. */
export const NAMED_FILES: Readonly<Record<string, string>> = {
  'specs/one.json': '{"openapi":"3.1.0","info":{"title":"One","version":"1"},"paths":{}}',
  'specs/two.json': '{"openapi":"3.1.0","info":{"title":"Two","version":"2"},"paths":{}}',
};

/** Sections without keys. */
const SINGLE = new Set(kinds.flatMap(({ manifest }) => (manifest?.single === true ? [manifest.section] : [])));

/** Files that a manifest names, and those of the models. */
export function filesNamedIn(manifest: string): Record<string, string> {
  const names = [...manifest.matchAll(/\bfile"?: *"?([^\s",}]+)/g)].map(([, name = '']) => name);
  const textOf = (name: string) =>
    name.endsWith('.pem') ? (name === 'certs/okta.pem' ? NAMES : ADDRESSES).cert : `Text of ${name}`;
  return { ...Object.fromEntries(names.map((name) => [name, textOf(name)])), ...NAMED_FILES };
}

/** The model as manifests: one file for each section, in JSON, which is YAML too. */
export function manifestsOf(model: Model): Record<string, string> {
  const files = filesNamedIn(JSON.stringify(model));
  for (const [section, entries] of Object.entries(model)) {
    if (entries !== undefined) {
      files[`${section}.yaml`] = JSON.stringify({ [section]: entries }, null, 2);
    }
  }
  return files;
}

/**
 * The same model in another order: keys reversed, every entry in a file of its own, and file names in reverse order.
 */
export function shuffledManifestsOf(model: Model): Record<string, string> {
  const files = filesNamedIn(JSON.stringify(model));
  const sections = Object.entries(model).reverse();
  for (const [section, entries] of sections) {
    if (SINGLE.has(section)) {
      if (entries !== undefined) {
        files[`aa-${section}.yaml`] = JSON.stringify({ [section]: backwards(entries) });
      }
      continue;
    }
    for (const [index, [key, entry]] of Object.entries(entries ?? {})
      .reverse()
      .entries()) {
      files[`m${String(99 - index)}-${section}.yaml`] = JSON.stringify({ [section]: { [key]: backwards(entry) } });
    }
  }
  return files;
}

/** Mappings in reverse order; lists keep their order, because it has a meaning. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(backwards);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, backwards(member)]),
  );
}
