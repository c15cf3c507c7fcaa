/** Limits of a configuration that nobody named: a file that is merely found may be a stranger's. */
import type { Problem } from '../core/errors.ts';
import type { ConfigDocument, Path } from './document.ts';

/** `named`: by `--config` or `OCTAVO_CONFIG`. `found`: `config.yaml` in the working directory, which nobody named. */
export type ConfigTrust = 'named' | 'found';

/** What a found configuration may not do, for reading its references and for checking it as a whole. */
export interface FoundLimits {
  readonly refuse: (scheme: 'env' | 'file', name: string) => string | null;
  /** Always throws: no other file is read. */
  readonly readFile: (path: string) => string;
  readonly examine: (document: ConfigDocument) => readonly Problem[];
}

/** Variables that a found configuration may name. Others belong to other programs of the same machine. */
const OWN_VARIABLE = /^OCTAVO_/;

/** The setting that all requests with the token go to. */
const ADDRESS = 'platform.baseUrl';

/**
 * The limits of the found configuration `file`: it may name variables that begin with `OCTAVO_`, and no file. A value
 * from the environment is sent only to an address from the environment: the author of the file chose all others.
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
