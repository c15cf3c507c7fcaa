/** Records and tables of sites and of what they consist of. */

import type { JsonObject } from '../../core/json.ts';
import type { AgentsContext, SiteType, SiteVisibility } from '../model/schema.ts';
import { type Entity, IndexedTable, organizationKey, placeKey, type Ranked } from '../model/store.ts';
import type { DefaultLevel } from '../spaces/views.ts';

export interface SiteRecord extends Entity {
  readonly organization: string;
  readonly type: SiteType;
  readonly title: string;
  readonly visibility: SiteVisibility;
  readonly basename?: string | undefined;
  readonly proxy?: string | undefined;
  readonly published: boolean;
  readonly createdAt: string;
  readonly adaptiveContent: boolean;
  readonly agentsContext: AgentsContext;
  /** Absent in states of earlier versions of Octavo: inherited. */
  readonly defaultLevel?: DefaultLevel | undefined;
  /** The default among root site spaces. */
  readonly defaultSiteSpace?: string | undefined;
  readonly defaultSection?: string | undefined;
  readonly adaptiveSchema?: { readonly jsonSchema: JsonObject; readonly updatedAt: string } | undefined;
  /** Absent while the settings are those of a new site. */
  readonly customization?: JsonObject | undefined;
  readonly customizedAt?: string | undefined;
  /** Absent while nobody has read or set how visitors sign in. */
  readonly visitorAuth?: VisitorAuthRecord | undefined;
}

/** A part that Git Sync may have written. */
interface GitKeyed {
  /** The key of the node in `docs.yaml`. */
  readonly gitKey?: string | undefined;
}

/** Git Sync of a site, or of one space. */
export interface GitInstallationRecord extends Entity {
  readonly organization: string;
  readonly site?: string | undefined;
  readonly space?: string | undefined;
  /** `owner/name`, on GitHub. */
  readonly repository: string;
  readonly branch: string;
  readonly priority: 'git' | 'gitbook';
  readonly status: 'unauthenticated' | 'active' | 'pending';
  readonly createdAt: string;
}

export interface SiteSpaceRecord extends Ranked, GitKeyed {
  readonly site: string;
  /** Absent at the root of a site without sections. */
  readonly section?: string | undefined;
  readonly space: string;
  readonly path: string;
  readonly condition?: string | undefined;
  readonly hidden: boolean;
  readonly draft?: boolean | undefined;
}

/** Texts by language. */
export type Localized = Readonly<Record<string, string>>;

export interface SectionRecord extends Ranked, GitKeyed {
  readonly site: string;
  readonly group?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  readonly path: string;
  readonly condition?: string | undefined;
  readonly icon?: string | undefined;
  readonly defaultSiteSpace?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly localizedTitle?: Localized | undefined;
  readonly localizedDescription?: Localized | undefined;
}

export interface SectionGroupRecord extends Ranked, GitKeyed {
  readonly site: string;
  readonly parent?: string | undefined;
  readonly title: string;
  readonly icon?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly localizedTitle?: Localized | undefined;
}

/** An old path of a site, and where it leads. */
export interface RedirectRecord extends Entity {
  readonly site: string;
  readonly source: string;
  readonly draft: boolean;
  readonly captureWildcard: boolean;
  readonly permanent: boolean;
  readonly destination: JsonObject;
  readonly createdAt: string;
  readonly updatedAt?: string | undefined;
}

/** Sign-in of the visitors of a site. */
export interface VisitorAuthRecord {
  readonly backend: 'custom' | 'integration';
  readonly privateKey: string;
  readonly fallbackURL?: string | undefined;
  readonly logoutURL?: string | undefined;
}

/** A link with a secret address of a site. */
export interface ShareLinkRecord extends Entity {
  readonly site: string;
  readonly name: string;
  readonly active: boolean;
  readonly createdAt: string;
  /** Last part of its address. */
  readonly secret: string;
}

/** An MCP server that the assistant of a site can use. */
export interface McpServerRecord extends Entity {
  readonly site: string;
  readonly name: string;
  readonly url: string;
  readonly transport: 'http' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
  readonly condition?: string | undefined;
}

/** A link to elsewhere among the sections of a site. */
export interface ExternalLinkRecord extends Ranked, GitKeyed {
  readonly site: string;
  readonly group?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  readonly icon?: string | undefined;
  readonly url: string;
  readonly draft: boolean;
  readonly condition?: string | undefined;
  readonly localizedTitle?: Localized | undefined;
  readonly localizedDescription?: Localized | undefined;
}

/** Index key of a redirect: a draft and a live redirect can have the same source. */
export function redirectKey(site: string, source: string, draft: boolean): string {
  return placeKey(site, `${draft ? 'draft' : 'live'} ${source}`);
}

const siteOf = (record: { readonly site: string }) => record.site;
const placeOf = (siteSpace: SiteSpaceRecord) => siteSpace.section ?? siteSpace.site;

/** Tables of sites and of what their structure consists of. */
export function siteTables() {
  return {
    sites: new IndexedTable<SiteRecord, 'organization'>({ organization: organizationKey }),
    siteSpaces: new IndexedTable<SiteSpaceRecord, 'site' | 'place' | 'space' | 'path' | 'shown'>({
      site: siteOf,
      place: placeOf,
      space: (record) => record.space,
      path: (record) => placeKey(placeOf(record), record.path),
      shown: (record) => placeKey(placeOf(record), record.space),
    }),
    sections: new IndexedTable<SectionRecord, 'site' | 'place' | 'path'>({
      site: siteOf,
      place: (record) => record.group ?? record.site,
      path: (record) => placeKey(record.site, record.path),
    }),
    externalLinks: new IndexedTable<ExternalLinkRecord, 'site' | 'place'>({
      site: siteOf,
      place: (record) => record.group ?? record.site,
    }),
    redirects: new IndexedTable<RedirectRecord, 'site' | 'source'>({
      site: siteOf,
      source: ({ site, source, draft }) => redirectKey(site, source, draft),
    }),
    mcpServers: new IndexedTable<McpServerRecord, 'site'>({ site: siteOf }),
    gitInstallations: new IndexedTable<GitInstallationRecord, 'organization' | 'target'>({
      organization: organizationKey,
      target: (record) => record.site ?? record.space,
    }),
    shareLinks: new IndexedTable<ShareLinkRecord, 'site'>({ site: siteOf }),
    sectionGroups: new IndexedTable<SectionGroupRecord, 'site' | 'place'>({
      site: siteOf,
      place: (record) => record.parent ?? record.site,
    }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof siteTables> {}
}
