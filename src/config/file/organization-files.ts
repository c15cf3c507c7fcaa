/** Organizations in files of their own: adds them to the list of the configuration file. */
import { dirname, join, resolve } from 'node:path';
import { messageOf, type Problem } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { append } from '../../core/lists.ts';
import { plainLine } from '../../core/text/plain-line.ts';
import { didYouMean } from '../../core/text/suggest.ts';
import { type ConfigDocument, type Path, readDocument, type SubstitutionContext } from '../model/document.ts';

export interface OrganizationFileOptions {
  /** Name of the configuration file in messages. */
  readonly file: string;
  readonly context: SubstitutionContext;
  /**
   * Returns the contents of the files in a directory whose names `isOrganizationFile` accepts, by name; an error for a file
   * that cannot be read. Throws if the directory cannot be read.
   */
  readonly readDirectory: (directory: string) => ReadonlyMap<string, string | Error>;
}

/** Longest name of a file, in code points. */
const MAX_NAME = 255;
const SETTINGS = ['directory', 'list'];

/** Returns true for the name of a file that has an organization. */
export function isOrganizationFile(name: string): boolean {
  return /^[^.].*\.ya?ml$/s.test(name);
}

/** Document whose organizations are a list, with the directory of the others; null: there is none. */
export interface OrganizationsDocument extends ConfigDocument {
  readonly directory: string | null;
  /** Files of the directory, by path, with the index of their organization; null if none can be read. */
  readonly files: ReadonlyMap<string, OrganizationFile>;
}

export interface OrganizationFile {
  readonly index: number | null;
  /** Id of the organization, also if the file is not valid YAML; null if it cannot be read. */
  readonly id: string | null;
}

/** Id at the start of a line of a file that is not valid YAML. */
const ID = /^id:[ \t]*["']?([^\s"'#$]+)/m;

/**
 * Returns the document with all organizations in one list, `organizations`. A problem of an organization in a file of its
 * own is located in that file.
 */
export function mergeOrganizations(document: ConfigDocument, options: OrganizationFileOptions): OrganizationsDocument {
  const organizations = isObject(document.values) ? document.values.organizations : undefined;
  if (!isObject(organizations)) {
    return { ...document, directory: null, files: new Map() };
  }
  const { directory, list = [] } = organizations;
  const problems = [...settingProblems(document, organizations)];
  const listed: readonly unknown[] = Array.isArray(list) ? list : [];
  const named = typeof directory === 'string' && directory.trim() !== '' ? directory : null;
  const entries = new Map<string, OrganizationFile>();
  const files: ConfigDocument[] = [];
  const read = named === null ? [] : readFiles(named, document, options, problems);
  for (const { path, content, found } of read) {
    const index = found === null ? null : listed.length + files.push(found) - 1;
    entries.set(path, { index, id: idOf(found?.values) ?? ID.exec(content)?.[1] ?? null });
  }
  const substituted = document.substituted.map((each) => ({ ...each, path: mergedPath(each.path) }));
  for (const [index, found] of files.entries()) {
    append(problems, found.problems);
    const at = ['organizations', listed.length + index];
    append(
      substituted,
      found.substituted.map((each) => ({ ...each, path: [...at, ...each.path] })),
    );
  }
  return {
    values: {
      ...(document.values as object),
      organizations: [...listed, ...files.map(({ values }) => values)],
    },
    problems: [...document.problems, ...problems],
    substituted,
    directory: named,
    files: entries,
    problemAt: (path, message, key) => {
      const [section, index, ...rest] = path;
      if (section !== 'organizations' || typeof index !== 'number') {
        return document.problemAt(path, message, key);
      }
      const file = files[index - listed.length];
      return file === undefined
        ? document.problemAt(['organizations', 'list', index, ...rest], message, key)
        : file.problemAt(rest, message, key);
    },
  };
}

function settingProblems(document: ConfigDocument, organizations: Readonly<Record<string, unknown>>): Problem[] {
  const at: Path = ['organizations'];
  const { directory, list } = organizations;
  const isText = typeof directory === 'string' && directory.trim() !== '';
  return [
    ...Object.keys(organizations)
      .filter((key) => !SETTINGS.includes(key))
      .map((key) => {
        const hint = didYouMean(key, SETTINGS) || `; valid settings: ${SETTINGS.join(', ')}`;
        return document.problemAt(at, `unknown setting${hint}`, key);
      }),
    ...(isText || (directory === undefined && list !== undefined)
      ? []
      : [document.problemAt(at, 'requires a directory with one file for each organization', 'directory')]),
    ...(list === undefined || Array.isArray(list)
      ? []
      : [document.problemAt([...at, 'list'], 'is not valid; expected a list of organizations')]),
  ];
}

/** A file of the directory; `found` is null if it has no organization. */
interface ReadFile {
  readonly path: string;
  readonly content: string;
  readonly found: ConfigDocument | null;
}

function idOf(values: unknown): string | null {
  return isObject(values) && typeof values.id === 'string' ? values.id : null;
}

function readFiles(
  directory: string,
  document: ConfigDocument,
  { file, context, readDirectory }: OrganizationFileOptions,
  problems: Problem[],
): readonly ReadFile[] {
  const at: Path = ['organizations', 'directory'];
  let contents: ReadonlyMap<string, string | Error>;
  try {
    contents = readDirectory(resolve(context.base, directory));
  } catch (error) {
    problems.push(document.problemAt(at, `cannot read the directory (${messageOf(error)}); create it`));
    return [];
  }
  return [...contents]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => {
      const shown = plainLine(name, MAX_NAME);
      const path = join(dirname(file), directory, shown);
      if (typeof content !== 'string' || shown !== name) {
        const reason = typeof content === 'string' ? 'its name is too long or not plain text' : content.message;
        const message = `cannot be read: ${reason}; correct or remove the file`;
        problems.push({ file: path, line: 1, column: 1, address: '', message });
        return { path, content: '', found: null };
      }
      const found = readDocument(content, path, context);
      if (isObject(found.values)) {
        return { path, content, found };
      }
      const what = 'is not an organization; write the settings of one organization, such as id: org_1';
      append(problems, found.problems.length > 0 ? found.problems : [found.problemAt([], what)]);
      return { path, content, found: null };
    });
}

/** Returns the path in the merged list for a path in the configuration file. */
function mergedPath(path: Path): Path {
  const [section, list, ...rest] = path;
  return section === 'organizations' && list === 'list' ? ['organizations', ...rest] : path;
}
