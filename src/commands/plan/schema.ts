import { EXIT, type ExitCode } from '../../core/errors.ts';
import { kinds } from '../../kinds/registry.ts';
import { manifestJsonSchema } from '../../manifests/reference/json-schema.ts';
import type { CommandContext } from '../cli/context.ts';
import { declaredAddresses } from './desired.ts';

/** `octavo schema`: the JSON Schema of a manifest, for editors; with a folder, references are the keys declared in it. */
export async function schemaCommand(
  { repo }: { readonly repo?: string },
  { terminal }: CommandContext,
): Promise<ExitCode> {
  const declared = repo === undefined ? null : await declaredAddresses(terminal.cwd, repo);
  terminal.out(`${JSON.stringify(manifestJsonSchema(kinds, declared), null, 2)}\n`);
  return EXIT.done;
}
