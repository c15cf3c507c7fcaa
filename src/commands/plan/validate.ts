/** Checks manifests offline, and prints their JSON Schema. */
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { DesiredStateError, EXIT, type ExitCode, formatProblem, type Problem } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { findRepositoryRoot } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import { manifestJsonSchema } from '../../manifests/json-schema.ts';
import type { DesiredState } from '../../manifests/loader.ts';
import { findPlaceholders, findSharedKeys } from '../../plan/declared.ts';
import { counted, printableLines } from '../../plan/render/words.ts';
import type { Report, Tool } from '../../report/report.ts';
import { toGitHub, toJUnit, toSarif } from '../../report/sarif.ts';
import type { CommandContext } from '../cli/context.ts';
import { declaredAddresses, loadManifests } from './desired.ts';

/** Report formats for other programs; their file names are relative to the repository root. */
const REPORTS = { github: toGitHub, sarif: toSarif, junit: toJUnit } as const;

type ValidateFormat = 'text' | 'json' | keyof typeof REPORTS;

/** Runs `octavo validate [DIR]`: checks manifests offline. Throws DesiredStateError with every problem. */
export async function validate(
  folder: string,
  { format, config }: { readonly format: ValidateFormat; readonly config?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal } = context;
  const report = await check(loadManifests(terminal.cwd, folder, config));
  const { files, problems, warnings, resources } = report;
  if (format === 'text') {
    for (const warning of warnings) {
      terminal.err(printableLines(`${formatProblem(warning)} (warning)\n`));
    }
    if (report.error !== null) {
      throw report.error;
    }
    terminal.out(`Valid: ${counted(resources, 'resource')} in ${counted(files.length, 'manifest')}\n`);
    return EXIT.done;
  }
  if (format === 'json') {
    const valid = problems.length === 0;
    const answer = { format: 'octavo.validation/1', valid, files: files.length, resources, problems, warnings };
    terminal.out(`${shownJson(answer)}\n`);
    return valid ? EXIT.done : EXIT.invalid;
  }
  terminal.out(REPORTS[format](fromRoot(report, terminal.cwd), toolOf(context.version)));
  // The problems are on standard output, which the log of a CI job also has.
  terminal.err(
    problems.length === 0
      ? `Valid: ${counted(files.length, 'manifest')}\n`
      : `${counted(problems.length, 'problem')} in ${counted(files.length, 'manifest')}\n`,
  );
  return problems.length === 0 ? EXIT.done : EXIT.invalid;
}

interface Checked extends Report {
  /** Number of declared resources. */
  readonly resources: number;
  /** Holds the problems; null without any. */
  readonly error: DesiredStateError | null;
}

/** Checks what can be known without the platform. Throws other errors than problems of manifests. */
async function check(loading: Promise<DesiredState>): Promise<Checked> {
  try {
    const { declared, paths, misnamed } = await loading;
    const byKind = Map.groupBy(declared.values(), ({ kind }) => kind);
    const problems = kinds.flatMap((kind) => findSharedKeys(kind, byKind.get(kind.name) ?? []));
    const rules = new Map(kinds.map(({ name, fields }) => [name, fields]));
    const placeholders = [...declared.values()].flatMap(({ kind, address, fields, source }) =>
      findPlaceholders(rules.get(kind) ?? {}, Object.entries(fields)).map((message) => ({
        ...source,
        address,
        message,
      })),
    );
    const error = problems.length === 0 ? null : new DesiredStateError(problems, paths);
    return { files: paths, problems, warnings: [...misnamed, ...placeholders], resources: declared.size, error };
  } catch (error) {
    if (!(error instanceof DesiredStateError)) {
      throw error;
    }
    return { files: error.files, problems: error.problems, warnings: [], resources: 0, error };
  }
}

/** Makes file names relative to the repository root; outside of a repository they are unchanged. */
function fromRoot({ files, problems, warnings }: Report, cwd: string): Report {
  const root = findRepositoryRoot(cwd);
  const here = root === null ? '' : realpathSync(cwd);
  const named = (file: string) => {
    const path = root === null ? file : relative(root, resolve(here, file));
    return path.split(sep).join('/') || '.';
  };
  const relocated = (problem: Problem) => ({ ...problem, file: named(problem.file) });
  return { files: files.map(named), problems: problems.map(relocated), warnings: warnings.map(relocated) };
}

function toolOf(version: string): Tool {
  const rules = kinds.map(({ name }) => ({ id: name, description: `Declarations of ${name} must be valid.` }));
  return { version, rules };
}

/** Runs `octavo schema`: prints the JSON Schema of manifests; with a folder, references complete to its keys. */
export async function schemaCommand(
  { repo }: { readonly repo?: string },
  { terminal }: CommandContext,
): Promise<ExitCode> {
  const declared = repo === undefined ? null : await declaredAddresses(terminal.cwd, repo);
  terminal.out(`${JSON.stringify(manifestJsonSchema(kinds, declared), null, 2)}\n`);
  return EXIT.done;
}
