import { EXIT, type ExitCode } from '../../core/errors.ts';
import { kinds } from '../../kinds/registry.ts';
import { manifestJsonSchema } from '../../manifests/reference/json-schema.ts';
import type { CommandContext } from '../cli/context.ts';
import { declaredAddresses } from './desired.ts';

/** Runs `octavo schema`: prints the JSON Schema of manifests; with a folder, references complete to its keys. */
export async function schemaCommand(
  { repo }: { readonly repo?: string },
  { terminal }: CommandContext,
): Promise<ExitCode> {
  const declared = repo === undefined ? null : await declaredAddresses(terminal.cwd, repo);
  terminal.out(`${JSON.stringify(manifestJsonSchema(kinds, declared), null, 2)}\n`);
  return EXIT.done;
}
