/** Features that differ between versions of the platform, and the versions. */

import { invalid } from './answers.ts';

/**
 * The platform of the API document with all operations of the OpenAPI document of 0.146. Later features are off.
 * Source: docs/platform-notes.md#sources-of-facts
 */
export const ALL_FEATURES = {
  /**
   * An organization's list of change requests without a `status` has every status; with the feature off, only open
   * ones. Source: docs/platform-notes.md#change-request-lists
   */
  changeRequestDrafts: false,
  /**
   * A change request can be created with a cluster and a description. Source: docs/platform-notes.md#change-requests
   */
  changeRequestLinks: true,
  /** Sites have context records and topics: from 0.167. Source: docs/platform-notes.md#context-records */
  contextRecords: false,
  /** Responses have the fields that 0.202 requires. Source: docs/platform-notes.md#changes-by-version */
  currentFields: false,
  /** Content references can name a tag: from 0.167. Source: docs/platform-notes.md#content-references */
  contentTags: false,
  /** Conversations, issues and clusters: removed in 0.167. Source: docs/platform-notes.md#conversations */
  conversations: true,
  /** A request may ingest an array of conversations. Source: docs/platform-notes.md#conversations */
  conversationLists: true,
  /** Tokens of users may ingest, in addition to those of integrations. Source: docs/platform-notes.md#conversations */
  ingestionByUsers: true,
  /**
   * Tokens of users may list installations and create tokens for them, in addition to the integration's own.
   * Source: docs/platform-notes.md#integration-tokens
   */
  installationsByUsers: true,
  /** OpenAPI `source.text`. */
  openapiText: true,
  /** Publishing and unpublishing a site. */
  publish: true,
  /** Reviews of a change request can be requested. Source: docs/platform-notes.md#reviews */
  requestedReviewers: true,
  /** Creating a space. */
  spaceCreation: true,
  /** Sites and spaces tell about their Git Sync: from 0.181. Source: docs/platform-notes.md#git-sync */
  gitSync: false,
  /** The installations of a site and its spaces can be listed: from 0.201. Source: docs/platform-notes.md#git-sync */
  siteGitSync: false,
  /** Sites have findings, grouped by topic: from 0.181. Source: docs/platform-notes.md#findings */
  siteFindings: false,
  /** Sites have issues, the predecessors of findings: in 0.167. Source: docs/platform-notes.md#findings */
  siteIssues: false,
  /** Reading and sorting a site's structure. */
  structure: true,
  /** Sites have `agentsContext`: removed in 0.167. Source: docs/platform-notes.md#sites */
  agentsContext: true,
  /** An organization's list of change requests takes one status. Source: docs/platform-notes.md#change-request-lists */
  changeRequestStatus: true,
  /**
   * An organization's list of change requests takes several statuses, with `open` as default: from 0.167.
   * Source: docs/platform-notes.md#change-request-lists
   */
  changeRequestStatuses: false,
  /** The structure of a site can have external links: from 0.201. Source: docs/platform-notes.md#external-links */
  externalLinks: false,
  /** Site spaces have `hidden`. Source: docs/platform-notes.md#site-spaces */
  hiddenSiteSpaces: true,
  /** Links and backlinks can be listed: removed in 0.201. Source: docs/platform-notes.md#links-and-backlinks */
  linkListings: true,
  /** Members can be sorted by name: from 0.201. Source: docs/platform-notes.md#filters */
  memberNames: false,
  /** MCP servers of sites have a transport and a condition: from 0.181. Source: docs/platform-notes.md#mcp-servers */
  mcpTransports: false,
  /**
   * Writes with `prefer: return=minimal` are answered without a body: from 0.201.
   * Source: docs/platform-notes.md#answers-without-a-body
   */
  minimalAnswers: false,
  /**
   * Sections, groups and site spaces have drafts, and sections and groups localized texts: from 0.181.
   * Source: docs/platform-notes.md#drafts-and-localized-texts
   */
  structureDrafts: false,
  /**
   * A group has operations to add and remove sections: removed in 0.181. Source: docs/platform-notes.md#section-groups
   */
  sectionGroupMembers: true,
  /**
   * Redirects can be written together, be drafts, keep the rest of a path and lead to other sites: from 0.167.
   * Source: docs/platform-notes.md#redirects
   */
  bulkRedirects: false,
  /** Redirects can be permanent: from 0.201. Source: docs/platform-notes.md#redirects */
  permanentRedirects: false,
  /** The update of a section takes its group: from 0.181. Source: docs/platform-notes.md#sections */
  sectionParents: false,
  /** Merge rules that require an approval or the author: from 0.167. Source: docs/platform-notes.md#merge-rules */
  authorMergeRules: false,
  /** The update of a site takes `defaultLevel`, and responses have it: from 0.181. Source: docs/platform-notes.md#permissions */
  siteDefaultLevel: false,
  /** Teams and people can have roles in sites: from 0.167. Source: docs/platform-notes.md#permissions */
  sitePermissions: false,
  /** Customizations have lists of page actions, and no settings of PDF and Git: from 0.201. Source: docs/platform-notes.md#customization */
  pageActionLists: false,
  /** Customizations have social accounts and code themes: from 0.167. Source: docs/platform-notes.md#customization */
  socialAccounts: false,
  /** Share links can be searched: from 0.167. Source: docs/platform-notes.md#share-links */
  shareLinkSearch: false,
  /** Visitors of a site can be sent to sign out: from 0.181. Source: docs/platform-notes.md#visitor-authentication */
  visitorLogout: false,
  /** A site can follow the theme of the visitor's system: from 0.181. Source: docs/platform-notes.md#customization */
  systemTheme: false,
  /** Integrations can read visitors' claims: from 0.201. Source: docs/platform-notes.md#integration-scopes */
  visitorClaims: false,
  /** Traditional Chinese (`zh-tw`) is a language: from 0.181. Source: docs/platform-notes.md#enumerations */
  traditionalChinese: false,
  /** A space can be transferred: removed in 0.181. Source: docs/platform-notes.md#spaces */
  spaceTransfer: true,
  /** Ids in paths have a pattern: from 0.167. Source: docs/platform-notes.md#conventions */
  strictPatterns: false,
  /** Applying a template to content answers 201: from 0.167. Source: docs/platform-notes.md#write-status-codes */
  templateCreates: false,
};

/** Features that differ between versions of the platform. Source: docs/platform-notes.md#changes-by-version */
export type Features = Readonly<Record<keyof typeof ALL_FEATURES, boolean>>;

/** Versions of the platform that can be emulated, oldest first. */
const VERSIONS = ['0.146', '0.167', '0.181', '0.201', '0.202'] as const;

export type PlatformVersion = (typeof VERSIONS)[number];

/** Changes of each version to the previous one. Source: docs/platform-notes.md#changes-by-version */
const CHANGES: Readonly<Record<PlatformVersion, Partial<Features>>> = {
  '0.146': {},
  '0.167': {
    contentTags: true,
    conversations: false,
    contextRecords: true,
    siteIssues: true,
    agentsContext: false,
    bulkRedirects: true,
    changeRequestStatuses: true,
    sitePermissions: true,
    strictPatterns: true,
    shareLinkSearch: true,
    socialAccounts: true,
    templateCreates: true,
    authorMergeRules: true,
  },
  '0.181': {
    siteIssues: false,
    mcpTransports: true,
    visitorLogout: true,
    siteFindings: true,
    sectionGroupMembers: false,
    sectionParents: true,
    siteDefaultLevel: true,
    spaceTransfer: false,
    structureDrafts: true,
    gitSync: true,
    systemTheme: true,
    traditionalChinese: true,
  },
  '0.201': {
    externalLinks: true,
    siteGitSync: true,
    linkListings: false,
    memberNames: true,
    minimalAnswers: true,
    permanentRedirects: true,
    pageActionLists: true,
    visitorClaims: true,
  },
  '0.202': { currentFields: true },
};

/** Returns the features of a version. The oldest version is the one that the API document describes. */
export function getFeatures(version: PlatformVersion): Features {
  const until = VERSIONS.slice(0, VERSIONS.indexOf(version) + 1);
  return Object.assign({}, ALL_FEATURES, ...until.map((each) => CHANGES[each])) as Features;
}

/** Returns the latest version whose changes are all on. */
export function findVersion(features: Features): PlatformVersion {
  const has = ([name, value]: [string, boolean]) => features[name as keyof Features] === value;
  return VERSIONS.findLast((version) => Object.entries(CHANGES[version]).every(has)) ?? VERSIONS[0];
}

/** Throws a 400 if the body has a field that this version does not have. */
export function refuseUnknown(
  { features }: { readonly features: Features },
  feature: keyof Features,
  body: Readonly<Record<string, unknown>>,
  field: string,
): void {
  if (body[field] !== undefined && !features[feature]) {
    throw invalid(`body.${field}`, 'unknown field');
  }
}

/** Values that were added in later versions, by feature. */
const LATER_VALUES = {
  authorMergeRules: ['require_at_least_one_approved_review', 'require_author_to_merge'],
  contentTags: ['tag'],
  memberNames: ['name'],
  systemTheme: ['system'],
  traditionalChinese: ['zh-tw'],
  visitorClaims: ['site:visitor:claims'],
} as const satisfies Partial<Record<keyof Features, readonly string[]>>;

/** Throws a 400 if one of the values was added in a later version. */
export function refuseLaterValues(
  { features }: { readonly features: Features },
  feature: keyof typeof LATER_VALUES,
  values: readonly unknown[],
  place: string,
): void {
  const later: readonly unknown[] = LATER_VALUES[feature];
  const unknown = features[feature] ? undefined : values.find((value) => later.includes(value));
  if (unknown !== undefined) {
    throw invalid(place, `${JSON.stringify(unknown)} is not one of its values`);
  }
}
