import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { DesiredStateError, EXIT, type ExitCode } from '../../core/errors.ts';
import { findRepositoryRoot } from '../../git/commit-info.ts';
import { kinds } from '../../kinds/registry.ts';
import { counted } from '../../plan/render/words.ts';
import { toGitHub } from '../../report/github.ts';
import { toJUnit } from '../../report/junit.ts';
import type { Report, Tool } from '../../report/report.ts';
import { toSarif } from '../../report/sarif.ts';
import type { CommandContext } from '../cli/context.ts';
import { loadManifests } from './desired.ts';

/** Report formats for other programs; their file names are relative to the repository root. */
const REPORTS = { github: toGitHub, sarif: toSarif, junit: toJUnit } as const;

export type ValidateFormat = 'text' | 'json' | keyof typeof REPORTS;

/** Runs `octavo validate [DIR]`: checks manifests offline. Throws DesiredStateError with every problem. */
export async function validate(
  folder: string,
  { format, config }: { readonly format: ValidateFormat; readonly config?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal } = context;
  const loading = loadManifests(terminal.cwd, folder, config);
  if (format !== 'text' && format !== 'json') {
    return reportOn(loading, format, context);
  }
  const state = await loading;
  const resources = state.declared.size;
  terminal.out(
    format === 'json'
      ? `${JSON.stringify({ format: 'octavo.validation/1', valid: true, files: state.files, resources, problems: [] })}\n`
      : `Valid: ${counted(resources, 'resource')} in ${counted(state.files, 'manifest')}\n`,
  );
  return EXIT.done;
}

async function reportOn(
  loading: ReturnType<typeof loadManifests>,
  format: keyof typeof REPORTS,
  { terminal, version }: CommandContext,
): Promise<ExitCode> {
  let report: Report;
  try {
    report = { files: (await loading).paths, problems: [] };
  } catch (error) {
    if (!(error instanceof DesiredStateError)) {
      throw error;
    }
    report = error;
  }
  const { files, problems } = report;
  terminal.out(REPORTS[format](fromRoot(report, terminal.cwd), toolOf(version)));
  // The problems are on standard output, which the log of a CI job also has.
  terminal.err(
    problems.length === 0
      ? `Valid: ${counted(files.length, 'manifest')}\n`
      : `${counted(problems.length, 'problem')} in ${counted(files.length, 'manifest')}\n`,
  );
  return problems.length === 0 ? EXIT.done : EXIT.invalid;
}

/** Makes file names relative to the repository root; outside of a repository they are unchanged. */
function fromRoot({ files, problems }: Report, cwd: string): Report {
  const root = findRepositoryRoot(cwd);
  const here = root === null ? '' : realpathSync(cwd);
  const named = (file: string) => {
    const path = root === null ? file : relative(root, resolve(here, file));
    return path.split(sep).join('/') || '.';
  };
  return { files: files.map(named), problems: problems.map((problem) => ({ ...problem, file: named(problem.file) })) };
}

function toolOf(version: string): Tool {
  const rules = kinds.map(({ name }) => ({ id: name, description: `Declarations of ${name} must be valid.` }));
  return { version, rules };
}
