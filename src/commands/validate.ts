import { EXIT, type ExitCode } from '../core/errors.ts';
import { counted } from '../plan/words.ts';
import { loadFolder } from './desired.ts';
import type { Surroundings } from './setup.ts';

/** `octavo validate [DIR]`: checks manifests, offline. Throws DesiredStateError with every problem. */
export async function validate(
  folder: string,
  options: { readonly format: 'text' | 'json'; readonly config?: string },
  { terminal }: Surroundings,
): Promise<ExitCode> {
  const { state } = await loadFolder(terminal.cwd, folder, options.config);
  const resources = state.declared.size;
  terminal.out(
    options.format === 'json'
      ? `${JSON.stringify({ format: 'octavo.validation/1', valid: true, files: state.files, resources, problems: [] })}\n`
      : `Valid: ${counted(resources, 'resource')} in ${counted(state.files, 'manifest')}\n`,
  );
  return EXIT.done;
}
