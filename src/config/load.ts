/** Loader for configuration files, with all checks. */

import { dirname } from 'node:path';
import type * as z from 'zod';
import { ConfigError, formatProblem, type Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { append, compareText } from '../core/lists.ts';
import { didYouMean } from '../core/text/suggest.ts';
import { type ConfigFiles, examineClusters } from './clusters.ts';
import { type Config, type ConfigKind, configSchema, freezeConfig, READ_SELDOM } from './config.ts';
import {
  type ConfigDocument,
  mergeOrganizations,
  type OrganizationFileOptions,
  type OrganizationsDocument,
  readDocument,
  usablePart,
} from './document.ts';
import { forgeProblems } from './forge.ts';
import { notificationProblems } from './notifications.ts';
import { type ConfigTrust, collectSecrets, foundLimits, isSecretSetting, plainHttpProblems } from './secrets.ts';
import { uiProblems } from './ui.ts';
import { asList, asMapping, type Path } from './values.ts';

/** All input for loading a configuration. */
export interface LoadConfigOptions {
  /** Content of the file, as YAML. */
  readonly text: string;
  /** Name of the file in messages. */
  readonly file: string;
  /** Directory that `${file:…}` is relative to. Default: the directory of `file`. */
  readonly folder?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
  /** Reads the files of a directory that have one organization each. Default: no directory can be read. */
  readonly readDirectory?: OrganizationFileOptions['readDirectory'];
  /** All kinds of resources. */
  readonly kinds: readonly ConfigKind[];
  /** `found`: the file was not named explicitly, so its references are limited (see `foundLimits`). Default: `named`. */
  readonly trust?: ConfigTrust;
  /** Sections that count as not set, because placeholders replace their secrets. Default: none. */
  readonly omit?: readonly string[];
  /** Leaves out organizations whose files have problems, unless no file is valid. Default: any problem is an error. */
  readonly skipInvalidFiles?: boolean;
}

/**
 * Loads a configuration. Throws one ConfigError with all problems, one per line: `file:line:column: path: problem;
 * solution`. Its message contains no secrets.
 */
export function loadConfig(options: LoadConfigOptions): Config {
  const { text, file, folder = dirname(file), env, readFile, kinds, trust = 'named', omit = [] } = options;
  const { readDirectory = noDirectories } = options;
  const limits = trust === 'found' ? foundLimits(file) : null;
  const files = { readFile: limits?.readFile ?? readFile, base: folder };
  const context = { env, ...files, refuse: limits?.refuse };
  const main = omitSections(readDocument(text, file, context), omit);
  const document = mergeOrganizations(main, { file, context, readDirectory });
  const secrets = collectSecrets(document);
  const schema = configSchema(kinds);
  const parsed = schema.safeParse(document.values ?? {}, READING);
  const clusters = examineEach(document, files);
  const problems = [...document.problems, ...(limits?.examine(document) ?? [])];
  if (document.values !== undefined || problems.length === 0) {
    const issues = parsed.error?.issues ?? [];
    append(problems, [
      ...issues.flatMap((issue) => describeIssue(issue, document)),
      ...crossChecks(document, file),
      ...plainHttpProblems(document),
      ...uiProblems(document),
      ...notificationProblems(document),
      ...forgeProblems(document),
    ]);
    append(
      problems,
      clusters.flatMap((examined) => examined.problems),
    );
  }
  const format = (found: readonly Problem[], first: string) => listOnce(found, secrets, first);
  const usable =
    options.skipInvalidFiles || problems.length === 0 ? usablePart(document, problems, file, format) : null;
  const result = usable === null || problems.length === 0 ? parsed : schema.safeParse(usable.values, READING);
  if (usable === null || !result.success) {
    throw new ConfigError(format(problems, file));
  }
  const extras = usable.indexes.flatMap((index) => clusters[index] ?? []);
  const { organizationFiles, invalidFiles } = usable;
  const references = document.substituted.filter(({ path, isWhole }) => isWhole && path.at(-1) === 'token');
  const tokenSources = new Map(references.map(({ value, written }) => [value, written]));
  return freezeConfig(result.data, { secrets, tokenSources, organizationFiles, invalidFiles }, extras);
}

function noDirectories(): never {
  throw new Error('this configuration cannot name directories');
}

function omitSections(document: ConfigDocument, sections: readonly string[]): ConfigDocument {
  const { values } = document;
  const entries = isObject(values) ? Object.entries(values).filter(([name]) => !sections.includes(name)) : [];
  return isObject(values) ? { ...document, values: Object.fromEntries(entries) } : document;
}

function examineEach(document: ConfigDocument, files: ConfigFiles) {
  return organizationsOf(document).map((organization, index) => {
    const { clusters } = asMapping(organization);
    return examineClusters(clusters, ['organizations', index, 'clusters'], document, files);
  });
}

function organizationsOf({ values }: ConfigDocument): readonly unknown[] {
  return asList(asMapping(values).organizations);
}

/**
 * Formats the problems: those of the main file first, each file in its own order. Reports one problem per location and
 * redacts secrets.
 */
function listOnce(problems: readonly Problem[], secrets: ReadonlySet<string>, main: string): string {
  const first = new Map<string, Problem>();
  for (const problem of problems) {
    const place = `${problem.file}:${problem.line}:${problem.column}:${problem.address}`;
    first.set(place, first.get(place) ?? problem);
  }
  const order = ({ file }: Problem) => (file === main ? '' : file);
  const sorted = [...first.values()].sort(
    (a, b) => compareText(order(a), order(b)) || a.line - b.line || a.column - b.column,
  );
  return [...secrets].reduce(
    (text, secret) => text.replaceAll(secret, '[secret]'),
    sorted.map(formatProblem).join('\n'),
  );
}

type Issue = z.core.$ZodIssue;

/** Options of zod: the message about unknown settings holds the valid ones, which zod provides only while it validates. */
const READING = { ...READ_SELDOM, error: carrySettings };

function carrySettings({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  const { shape = {} } = (inst?._zod.def ?? {}) as { readonly shape?: object };
  return code === 'unrecognized_keys' ? Object.keys(shape).join() : undefined;
}

function describeIssue(issue: Issue, document: ConfigDocument): readonly Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const present = asMapping(valueAt(document.values, issue.path));
    const known = issue.message.split(',').filter((name) => name !== '' && !(name in present));
    return issue.keys.map((key) => {
      const message = formerSetting(issue.path, key) ?? `unknown setting${hint(key, known)}`;
      return document.problemAt(issue.path, message, key);
    });
  }
  const value = valueAt(document.values, issue.path);
  if (issue.code === 'custom' && issue.params?.problem !== undefined) {
    return [document.problemAt(issue.path, `${quote(value, issue.path)} ${issue.params.problem}`)];
  }
  const expected = issue.code === 'custom' ? issue.message : expectedBy(issue);
  const wrong = value === undefined ? 'is missing' : `${quote(value, issue.path)} is not valid`;
  return [document.problemAt(issue.path, `${wrong}; expected ${expected}${nearChoice(value, expected)}`)];
}

function hint(key: string, known: readonly string[]): string {
  return didYouMean(key, known) || (known.length === 0 ? '; leave it out' : `; valid settings: ${known.join(', ')}`);
}

/** Suggests the nearest choice, if the expected value is `one of a, b, c`. */
function nearChoice(value: unknown, expected: string): string {
  return typeof value === 'string' && expected.startsWith('one of ')
    ? didYouMean(value, expected.slice('one of '.length).split(/, (?:or .*)?/))
    : '';
}

function expectedBy(issue: Issue): string {
  if (issue.code === 'invalid_type') {
    return issue.expected === 'array' ? 'a list' : issue.expected === 'object' ? 'a mapping' : `a ${issue.expected}`;
  }
  return issue.code === 'too_small' ? 'at least one entry' : issue.message;
}

function quote(value: unknown, path: Path): string {
  return typeof value === 'object' || isSecretSetting(path) ? 'this' : JSON.stringify(value);
}

function valueAt(values: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], values);
}

/** Checks that involve several settings. They use raw values, so that they also run if other settings are invalid. */
function crossChecks(document: OrganizationsDocument, main: string): readonly Problem[] {
  const root = asMapping(document.values);
  const platform = asMapping(root.platform);
  const seen = new Map<unknown, number>();
  const isEmpty = Array.isArray(root.organizations) && root.organizations.length === 0;
  if (isEmpty && document.directory === null) {
    return [document.problemAt(['organizations'], 'this is not valid; expected at least one entry')];
  }
  return organizationsOf(document).flatMap((organization, index) => {
    if (!isObject(organization)) {
      return [];
    }
    const at: Path = ['organizations', index];
    const problems: Problem[] = [];
    const { id, source, token, syncWindows } = organization;
    const first = seen.get(id);
    if (id !== undefined && first !== undefined) {
      append(problems, duplicateProblems(document, main, id, [first, index]));
    }
    seen.set(id, seen.get(id) ?? index);
    if (token === undefined && platform.token === undefined) {
      problems.push(document.problemAt(at, 'has no token; set platform.token, or token here'));
    }
    if (isObject(source) && (source.git === undefined) === (source.directory === undefined)) {
      problems.push(document.problemAt([...at, 'source'], 'requires exactly one of git and directory'));
    }
    return [...problems, ...windowChecks(document, [...at, 'syncWindows'], syncWindows)];
  });
}

/** Returns the problem of a second organization with an id; if both have files of their own, both are problems. */
function duplicateProblems(
  document: ConfigDocument,
  main: string,
  id: unknown,
  [first, second]: readonly [number, number],
): readonly Problem[] {
  const at = (index: number, message: string) => document.problemAt(['organizations', index, 'id'], message);
  const nameOf = (index: number) => {
    const { file, address } = at(index, '');
    return file === main ? address.replace(/\.id$/, '') : file;
  };
  const listed = (index: number) => `${JSON.stringify(id)} is already listed as ${nameOf(index)}; list it once`;
  // The list comes first, and is not a problem: a file must not keep other organizations from running.
  const isListed = at(first, '').file === main;
  return [...(isListed ? [] : [at(first, listed(second))]), at(second, listed(first))];
}

function windowChecks(document: ConfigDocument, at: Path, windows: unknown): readonly Problem[] {
  return asList(windows).flatMap((window, index) =>
    isObject(window) && (window.allow === undefined) === (window.deny === undefined)
      ? [document.problemAt([...at, index], 'requires exactly one of allow and deny, with a cron expression')]
      : [],
  );
}

/** Old names mapped to current names, by the path of the parent (`*` for each entry of a list). */
export const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'organizations.*': { confirm: 'requireApproval', windows: 'syncWindows' },
  'organizations.*.source.git': { poll: 'pollInterval', record: 'recordApplied' },
  'organizations.*.limits': { deletes: 'maxDeletions', share: 'maxChangedPercent' },
  'organizations.*.conversations': { quiet: 'settleDelay' },
  'organizations.*.conversations.batch': { count: 'maxConversations', bytes: 'maxBytes' },
  'organizations.*.conversations.outbox': { items: 'maxItems', bytes: 'maxBytes' },
  'organizations.*.conversations.redact': { off: 'disabledTypes' },
  'organizations.*.conversations.sources.*': { poll: 'pollInterval' },
  'organizations.*.conversations.sources.*.github': { team: 'teamMembers', declined: 'includeNotPlanned' },
  'organizations.*.conversations.sources.*.github.app': { installation: 'installationId' },
  'organizations.*.conversations.sources.*.folder': { after: 'afterRead', rejects: 'rejectDirectory' },
  'organizations.*.clusters': { default: 'defaultSpace', news: 'progressComments' },
  'organizations.*.clusters.select': {
    issues: 'minIssues',
    conversations: 'minConversations',
    age: 'minAge',
    rising: 'risingWeeks',
  },
  'organizations.*.clusters.changeRequest': { template: 'templateId', issues: 'maxIssues', pages: 'maxPages' },
  'organizations.*.clusters.afterMerge': { grow: 'reopenGrowth' },
  'organizations.*.clusters.limits': {
    run: 'maxPerRun',
    open: 'maxOpen',
    space: 'maxOpenPerSpace',
    day: 'maxPerDay',
  },
};

/** Advice for settings that were removed, by the path of the parent. */
const REMOVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  notifications: {
    repeatInterval: 'Octavo no longer repeats messages; alert on the metric octavo_conditions_firing instead',
    digest: 'Octavo no longer sends digests; octavo history shows what was applied',
    timezone: 'it was the time zone of digests, which Octavo no longer sends',
  },
};

/** Says what to do about a former setting; undefined if there was none of this name. */
function formerSetting(path: Path, key: string): string | undefined {
  const parent = path.map((part) => (typeof part === 'number' ? '*' : String(part))).join('.');
  const current = find(RENAMED, parent, key);
  if (current !== undefined) {
    return `was renamed; use ${current}`;
  }
  const advice = find(REMOVED, parent, key);
  return advice === undefined ? undefined : `was removed; ${advice}`;
}

function find(settings: typeof REMOVED, parent: string, key: string): string | undefined {
  const members = Object.hasOwn(settings, parent) ? settings[parent] : undefined;
  return members !== undefined && Object.hasOwn(members, key) ? members[key] : undefined;
}
