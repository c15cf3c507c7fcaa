/** Separates invalid organization files from the rest of a configuration, so that the rest can be used. */
import type { Problem } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { OrganizationsDocument } from './organization-files.ts';

/** A file of `organizations.directory` that cannot be used, so that its organization is not in the configuration. */
export interface InvalidFile {
  /** Path, as in problems. */
  readonly file: string;
  /** Id of its organization; null if it cannot be read. */
  readonly id: string | null;
  /** At least one line, such as `organizations/acme.yaml:3:8: prune: "some" is not valid`. */
  readonly problems: readonly string[];
}

/** The part of a configuration that can be used. */
export interface UsablePart {
  /** Settings without the organizations of invalid files. */
  readonly values: unknown;
  /** Indexes of the remaining organizations in the list of all. */
  readonly indexes: readonly number[];
  /** Files of the remaining organizations, by id. */
  readonly organizationFiles: ReadonlyMap<string, string>;
  readonly invalidFiles: readonly InvalidFile[];
}

/**
 * Returns the part of a configuration without the files that have problems; null if the configuration file itself has
 * one, or no file is valid. `format` returns the lines of the problems of a file.
 */
export function usablePart(
  document: OrganizationsDocument,
  problems: readonly Problem[],
  main: string,
  format: (problems: readonly Problem[], file: string) => string,
): UsablePart | null {
  const { files } = document;
  const byFile = Map.groupBy(problems, ({ file }) => file);
  if ([...byFile.keys()].some((file) => file === main || !files.has(file))) {
    return null;
  }
  const valid = [...files].filter(([file]) => !byFile.has(file));
  if (files.size > 0 && valid.length === 0) {
    return null;
  }
  const invalidFiles = [...byFile].map(([file, found]) => ({
    ...{ file, id: files.get(file)?.id ?? null },
    problems: format(found, file).split('\n'),
  }));
  const organizationFiles = new Map(valid.flatMap(([file, { id }]) => (id === null ? [] : [[id, file] as const])));
  return { ...withoutFiles(document, new Set(byFile.keys())), organizationFiles, invalidFiles };
}

function withoutFiles({ values, files }: OrganizationsDocument, invalid: ReadonlySet<string>) {
  if (!isObject(values) || !Array.isArray(values.organizations)) {
    return { values, indexes: [] };
  }
  const removed = new Set([...files].filter(([file]) => invalid.has(file)).map(([, { index }]) => index));
  const indexes = [...values.organizations.keys()].filter((index) => !removed.has(index));
  const organizations: readonly unknown[] = values.organizations;
  return { values: { ...values, organizations: indexes.map((index) => organizations[index]) }, indexes };
}
