import { invalid } from './answers.ts';

/** Features that differ between versions of the platform. Source: docs/platform-notes.md#changes-by-version */
export interface Features {
  /**
   * An organization's list of change requests without a `status` has every status; with the feature off, only open
   * ones. Source: docs/platform-notes.md#change-request-lists
   */
  readonly changeRequestDrafts: boolean;
  /**
   * A change request can be created with a cluster and a description. Source: docs/platform-notes.md#change-requests
   */
  readonly changeRequestLinks: boolean;
  /** Sites have context records and topics: from 0.167. Source: docs/platform-notes.md#context-records */
  readonly contextRecords: boolean;
  /** Conversations, issues and clusters: removed in 0.167. Source: docs/platform-notes.md#conversations */
  readonly conversations: boolean;
  /** A request may ingest an array of conversations. Source: docs/platform-notes.md#conversations */
  readonly conversationLists: boolean;
  /** Tokens of users may ingest, in addition to those of integrations. Source: docs/platform-notes.md#conversations */
  readonly ingestionByUsers: boolean;
  /**
   * Tokens of users may list installations and create tokens for them, in addition to the integration's own.
   * Source: docs/platform-notes.md#integration-tokens
   */
  readonly installationsByUsers: boolean;
  /** OpenAPI `source.text`. */
  readonly openapiText: boolean;
  /** Publishing and unpublishing a site. */
  readonly publish: boolean;
  /** Reviews of a change request can be requested. Source: docs/platform-notes.md#reviews */
  readonly requestedReviewers: boolean;
  /** Creating a space. */
  readonly spaceCreation: boolean;
  /** Sites have findings, grouped by topic: from 0.181. Source: docs/platform-notes.md#findings */
  readonly siteFindings: boolean;
  /** Sites have issues, the predecessors of findings: in 0.167. Source: docs/platform-notes.md#findings */
  readonly siteIssues: boolean;
  /** Reading and sorting a site's structure. */
  readonly structure: boolean;
  /** Sites have `agentsContext`: removed in 0.167. Source: docs/platform-notes.md#sites */
  readonly agentsContext: boolean;
  /** An organization's list of change requests takes one status. Source: docs/platform-notes.md#change-request-lists */
  readonly changeRequestStatus: boolean;
  /**
   * An organization's list of change requests takes several statuses, with `open` as default: from 0.167.
   * Source: docs/platform-notes.md#change-request-lists
   */
  readonly changeRequestStatuses: boolean;
  /** The structure of a site can have external links: from 0.201. Source: docs/platform-notes.md#external-links */
  readonly externalLinks: boolean;
  /** Site spaces have `hidden`. Source: docs/platform-notes.md#site-spaces */
  readonly hiddenSiteSpaces: boolean;
  /** Links and backlinks can be listed: removed in 0.201. Source: docs/platform-notes.md#links-and-backlinks */
  readonly linkListings: boolean;
  /**
   * Writes with `prefer: return=minimal` are answered without a body: from 0.201.
   * Source: docs/platform-notes.md#answers-without-a-body
   */
  readonly minimalAnswers: boolean;
  /**
   * A group has operations to add and remove sections: removed in 0.181. Source: docs/platform-notes.md#section-groups
   */
  readonly sectionGroupMembers: boolean;
  /** The update of a section takes its group: from 0.181. Source: docs/platform-notes.md#sections */
  readonly sectionParents: boolean;
  /** Merge rules that require an approval or the author: from 0.167. Source: docs/platform-notes.md#merge-rules */
  readonly authorMergeRules: boolean;
  /** A site can follow the theme of the visitor's system: from 0.181. Source: docs/platform-notes.md#customization */
  readonly systemTheme: boolean;
  /** Integrations can read visitors' claims: from 0.201. Source: docs/platform-notes.md#integration-scopes */
  readonly visitorClaims: boolean;
  /** Traditional Chinese (`zh-tw`) is a language: from 0.181. Source: docs/platform-notes.md#enumerations */
  readonly traditionalChinese: boolean;
  /** A space can be transferred: removed in 0.181. Source: docs/platform-notes.md#spaces */
  readonly spaceTransfer: boolean;
  /** Ids in paths have a pattern: from 0.167. Source: docs/platform-notes.md#conventions */
  readonly strictPatterns: boolean;
  /** Applying a template to content answers 201: from 0.167. Source: docs/platform-notes.md#write-status-codes */
  readonly templateCreates: boolean;
}

/**
 * The platform of the API document with all operations of the OpenAPI document of 0.146. Later features are off.
 * Source: docs/platform-notes.md#how-facts-are-known
 */
export const ALL_FEATURES: Features = {
  changeRequestDrafts: false,
  changeRequestLinks: true,
  contextRecords: false,
  conversations: true,
  conversationLists: true,
  ingestionByUsers: true,
  installationsByUsers: true,
  openapiText: true,
  publish: true,
  requestedReviewers: true,
  siteFindings: false,
  siteIssues: false,
  spaceCreation: true,
  structure: true,
  agentsContext: true,
  changeRequestStatus: true,
  changeRequestStatuses: false,
  externalLinks: false,
  hiddenSiteSpaces: true,
  linkListings: true,
  minimalAnswers: false,
  sectionGroupMembers: true,
  sectionParents: false,
  spaceTransfer: true,
  strictPatterns: false,
  templateCreates: false,
  authorMergeRules: false,
  systemTheme: false,
  visitorClaims: false,
  traditionalChinese: false,
};

/** Versions of the platform that the emulator can be told to be, the oldest first. */
const VERSIONS = ['0.146', '0.167', '0.181', '0.201'] as const;

export type PlatformVersion = (typeof VERSIONS)[number];

/** Changes of each version to the previous one. Source: docs/platform-notes.md#changes-by-version */
const CHANGES: Readonly<Record<PlatformVersion, Partial<Features>>> = {
  '0.146': {},
  '0.167': {
    conversations: false,
    contextRecords: true,
    siteIssues: true,
    agentsContext: false,
    changeRequestStatuses: true,
    strictPatterns: true,
    templateCreates: true,
    authorMergeRules: true,
  },
  '0.181': {
    siteIssues: false,
    siteFindings: true,
    sectionGroupMembers: false,
    sectionParents: true,
    spaceTransfer: false,
    systemTheme: true,
    traditionalChinese: true,
  },
  '0.201': { externalLinks: true, linkListings: false, minimalAnswers: true, visitorClaims: true },
};

/** Returns the features of a version. The oldest version is the one that the API document describes. */
export function featuresOf(version: PlatformVersion): Features {
  const until = VERSIONS.slice(0, VERSIONS.indexOf(version) + 1);
  return Object.assign({}, ALL_FEATURES, ...until.map((each) => CHANGES[each])) as Features;
}

/** The latest version whose changes are there. */
export function versionOf(features: Features): PlatformVersion {
  const has = ([name, value]: [string, boolean]) => features[name as keyof Features] === value;
  return VERSIONS.findLast((version) => Object.entries(CHANGES[version]).every(has)) ?? VERSIONS[0];
}

/** 400 where the body has a field that this version does not know: it is as strict about those as about any other. */
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

/** Values that only later versions take, by the feature that stands for them. */
const LATER_VALUES = {
  authorMergeRules: ['require_at_least_one_approved_review', 'require_author_to_merge'],
  systemTheme: ['system'],
  traditionalChinese: ['zh-tw'],
  visitorClaims: ['site:visitor:claims'],
} as const satisfies Partial<Record<keyof Features, readonly string[]>>;

/** 400 where one of the values is not known to this version yet. */
export function refuseLater(
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
