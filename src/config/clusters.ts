/** Settings of issue clusters: schema, checks and locations of names. */
import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { messageOf, type Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { templateProblems } from '../core/text/template.ts';
import type { ConfigDocument } from './document.ts';
import { choice, count, cron, duration, flag, pattern, section, setting, text } from './settings.ts';
import { asMapping, type Path, readEmail, readText, textsAt } from './values.ts';

/** Variables that produce one line of text, for subjects and descriptions. */
const LINE_NAMES = [
  'label',
  'id',
  'impact',
  'impactMeaning',
  'trend',
  'issues',
  'conversations',
  'sources',
  'since',
  'url',
] as const;
/** Variables that produce blocks of Markdown, for descriptions only. */
export const BLOCK_NAMES = ['summary', 'issueList', 'pageList'] as const;

/** All variables that a description may contain. */
export const TEMPLATE_NAMES = [...LINE_NAMES, ...BLOCK_NAMES] as const;

export type LineName = (typeof LINE_NAMES)[number];
export type BlockName = (typeof BLOCK_NAMES)[number];

/** Impact of a cluster on readers. Source: docs/platform-notes.md#enumerations */
const IMPACTS = ['low', 'medium', 'high'] as const;

/** Maximum number of weeks that can be compared: the pulse covers three months, which two windows must share. */
const MAX_WEEKS = 6;

const spaceName = () => text('the manifest key or the id of a space');
const labelPattern = () => pattern('a regular expression, such as "sso|saml"');

const select = z.strictObject({
  impact: z.array(choice(IMPACTS)).prefault(['high']),
  minIssues: count(0, 1_000_000).prefault(3),
  minConversations: count(0, 1_000_000).prefault(3),
  minAge: duration('the minimum age of the cluster, such as 3d').prefault('0s'),
  risingWeeks: count(0, MAX_WEEKS).prefault(0),
  sources: z.array(text('the name of a source, such as email')).prefault([]),
  include: z.array(labelPattern()).prefault([]),
  exclude: z.array(labelPattern()).prefault([]),
});

const route = z
  .strictObject({
    label: labelPattern().optional(),
    source: text('the name of a source, such as email').optional(),
    space: spaceName(),
  })
  .check(({ value, issues }) => {
    if (value.label === undefined && value.source === undefined) {
      issues.push({ code: 'custom', input: value, message: 'a label, a source, or both' });
    }
  });

/** Markdown, or a file that contains it, which the loader reads. */
const description = setting('Markdown, or { file: PATH }', (value): string | { readonly file: string } | undefined => {
  if (isObject(value)) {
    const file = readText(value.file);
    return file !== undefined && Object.keys(value).length === 1 ? { file } : undefined;
  }
  return readText(value);
});

const changeRequest = z.strictObject({
  subject: text('a template such as "Docs gap: {{label}}"').prefault('Docs gap: {{label}}'),
  description: description.nullable().default(null),
  templateId: text('the id of a platform template').nullable().default(null),
  reviewers: z.array(setting('an email address, or a team as team/KEY', readReviewer)).prefault([]),
  maxIssues: count(0, 100).prefault(10),
  maxPages: count(0, 50).prefault(5),
});

/** Settings that select which issue clusters become change requests, and in which space. See docs/clusters.md. */
export function clustersSchema() {
  return section({
    enabled: flag().prefault(false),
    schedule: cron().default('23 * * * *'),
    select: select.prefault({}),
    routes: z.array(route).prefault([]),
    search: section({ enabled: flag().prefault(true), spaces: z.array(spaceName()).prefault([]) }),
    defaultSpace: spaceName().nullable().default(null),
    changeRequest: changeRequest.prefault({}),
    progressComments: flag().prefault(true),
    afterMerge: section({
      reopenGrowth: setting('a number above 1, such as 2', readGrowth).prefault(2),
      mute: flag().prefault(false),
    }),
    limits: section({
      maxPerRun: count(1, 1_000).prefault(5),
      maxOpen: count(1, 1_000).prefault(20),
      maxOpenPerSpace: count(1, 1_000).prefault(5),
      maxPerDay: count(1, 1_000).prefault(10),
    }),
  });
}

/** Reads a reviewer: "ada@acme.example" or "team/writers". */
function readReviewer(value: unknown): string | undefined {
  return typeof value === 'string' && /^team\/\S+$/.test(value) ? value : readEmail(value);
}

/** Reads a growth factor. Accepts a string too, because `${env:NAME}` returns strings. */
function readGrowth(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number > 1 && number <= 1_000 ? number : undefined;
}

type ParsedClusters = z.output<ReturnType<typeof clustersSchema>>;

/** Location of a setting, for problems that can only be detected after the configuration is loaded. */
export type SettingLocation = Omit<Problem, 'message'>;
/** A name in the settings, with its location. */
export interface PlacedName {
  readonly name: string;
  readonly place: SettingLocation;
}

/** The settings of issue clusters. Durations are in milliseconds. */
export interface ClustersConfig extends Omit<Readonly<ParsedClusters>, 'changeRequest'> {
  readonly changeRequest: Readonly<Omit<ParsedClusters['changeRequest'], 'description'>> & {
    /** Markdown template; null for the built-in template. */
    readonly description: string | null;
  };
  /**
   * All named spaces, including repetitions. Their existence is checked later, against the platform and the manifests.
   */
  readonly spaceNames: readonly PlacedName[];
  /** All named reviewers. */
  readonly reviewerNames: readonly PlacedName[];
}

/** Data that is read together with the cluster settings: the template file, and the locations of names. */
export interface ClusterExtras extends Pick<ClustersConfig, 'spaceNames' | 'reviewerNames'> {
  readonly template: string | null;
}

/** Combines parsed cluster settings with their extras; undefined for a configuration without a file. */
export function completeClusters(parsed: ParsedClusters, extras: ClusterExtras | undefined): ClustersConfig {
  const { description } = parsed.changeRequest;
  const template = typeof description === 'string' ? description : (extras?.template ?? null);
  return {
    ...parsed,
    changeRequest: { ...parsed.changeRequest, description: template },
    spaceNames: extras?.spaceNames ?? [],
    reviewerNames: extras?.reviewerNames ?? [],
  };
}

/** Access to files that the configuration refers to. */
export interface ConfigFiles {
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
  /** The directory that relative paths are resolved against. */
  readonly base: string;
}

/**
 * Checks the templates in one organization's raw cluster settings, reads the template file, and collects names with
 * their locations. Uses raw values, so that problems are reported even if other settings are invalid.
 */
export function examineClusters(
  raw: unknown,
  at: Path,
  document: ConfigDocument,
  files: ConfigFiles,
): ClusterExtras & { readonly problems: readonly Problem[] } {
  const settings = asMapping(raw);
  const request = asMapping(settings.changeRequest);
  const template = readTemplate(request.description, [...at, 'changeRequest', 'description'], document, files);
  const subject = typeof request.subject === 'string' ? templateProblems(request.subject, LINE_NAMES) : [];
  const problems = [
    ...subject.map(({ message }) => document.problemAt([...at, 'changeRequest', 'subject'], message)),
    ...template.problems,
  ];
  const placed = (paths: readonly (readonly string[])[]) =>
    textsAt(settings, ...paths).map(([path, name]) => ({ name, place: placeOf(document, [...at, ...path]) }));
  return { problems, template: template.text, spaceNames: placed(SPACES), reviewerNames: placed(REVIEWERS) };
}

/** Paths of settings that contain names; `*` matches every entry of a list. */
const SPACES = [['routes', '*', 'space'], ['search', 'spaces', '*'], ['defaultSpace']];
const REVIEWERS = [['changeRequest', 'reviewers', '*']];

function placeOf(document: ConfigDocument, path: Path): SettingLocation {
  const { message: _, ...place } = document.problemAt(path, '');
  return place;
}

function readTemplate(
  description: unknown,
  at: Path,
  document: ConfigDocument,
  { readFile, base }: ConfigFiles,
): { readonly text: string | null; readonly problems: readonly Problem[] } {
  const name = readText(asMapping(description).file);
  if (name === undefined) {
    const problems = typeof description === 'string' ? templateProblems(description, TEMPLATE_NAMES) : [];
    return { text: null, problems: problems.map(({ message }) => document.problemAt(at, message)) };
  }
  const file = isAbsolute(name) ? name : resolve(base, name);
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    const message = `cannot read the file ${name} (${messageOf(error)}); create it, or write the template here`;
    return { text: null, problems: [document.problemAt([...at, 'file'], message)] };
  }
  const { address } = document.problemAt(at, '');
  const problems = templateProblems(text, TEMPLATE_NAMES).map((problem) => ({
    ...lineAndColumn(text, problem.at),
    file,
    address,
    message: problem.message,
  }));
  return { text, problems };
}

function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
