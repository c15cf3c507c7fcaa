import { invalid } from './answers.ts';
import { ALL_FEATURES, type Context, type Features } from './operation.ts';

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
  { features }: Pick<Context, 'features'>,
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
  { features }: Pick<Context, 'features'>,
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
