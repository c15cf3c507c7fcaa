/** Limits of a configuration that was found and not named explicitly: its author may not be trusted. */
import type { Problem } from '../../core/errors.ts';
import type { ConfigDocument, Path } from '../model/document.ts';

/** `named`: by `--config` or `OCTAVO_CONFIG`. `found`: `config.yaml` in the working directory, not named explicitly. */
export type ConfigTrust = 'named' | 'found';

/** Restrictions of a found configuration: for its references, and for the file as a whole. */
export interface FoundLimits {
  readonly refuse: (scheme: 'env' | 'file', name: string) => string | null;
  /** Always throws, because no other file may be read. */
  readonly readFile: (path: string) => string;
  readonly examine: (document: ConfigDocument) => readonly Problem[];
}

/** Variables that a found configuration may use. Other variables belong to other programs. */
const OWN_VARIABLE = /^OCTAVO_/;

/** The setting that determines where the token is sent. */
const ADDRESS = 'platform.baseUrl';

/**
 * Returns the limits of the found configuration `file`. It may use variables that start with `OCTAVO_`, and no files.
 * Values from the environment are sent only to an address from the environment, because the author of the file chose
 * every other address.
 */
export function foundLimits(file: string): FoundLimits {
  const advice = `pass --config ${file}, or set OCTAVO_CONFIG, to trust this file`;
  return {
    refuse(scheme, name) {
      if (scheme === 'env' && OWN_VARIABLE.test(name)) {
        return null;
      }
      const what =
        scheme === 'env'
          ? `the variable ${name} is not read: its name does not start with OCTAVO_`
          : `${name} is not read`;
      return `${what}, because this configuration was not named explicitly; ${advice}`;
    },
    readFile() {
      throw new Error(`this configuration was not named explicitly; ${advice}`);
    },
    examine({ substituted, problemAt }) {
      const isFromEnvironment = substituted.some(({ path, isWhole }) => isWhole && nameOf(path) === ADDRESS);
      return isFromEnvironment
        ? []
        : substituted.map(({ path }) =>
            problemAt(
              path,
              `comes from the environment, but would be sent to the ${ADDRESS} of a file that was not named explicitly; ${advice}`,
            ),
          );
    },
  };
}

function nameOf(path: Path): string {
  return path.map(String).join('.');
}
