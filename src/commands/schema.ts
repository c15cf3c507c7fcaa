import { EXIT, type ExitCode } from '../core/errors.ts';
import { kinds } from '../kinds/registry.ts';
import { manifestJsonSchema } from '../manifests/json-schema.ts';
import type { Surroundings } from './setup.ts';

/** `octavo schema`: the JSON Schema of a manifest, for editors. */
export async function schemaCommand({ terminal }: Surroundings): Promise<ExitCode> {
  terminal.out(`${JSON.stringify(manifestJsonSchema(kinds), null, 2)}\n`);
  return EXIT.done;
}
