/** Replacement of references such as `${env:NAME}` in settings. */
import { isAbsolute, resolve } from 'node:path';
import { messageOf } from '../core/errors.ts';

/** Data that `${env:NAME}` and `${file:PATH}` are resolved from. Relative paths start at the directory `base`. */
export interface SubstitutionContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
  readonly base: string;
  /** Returns why a reference may not be resolved; null if it may. Default: all references may be resolved. */
  readonly refuse?: (scheme: 'env' | 'file', name: string) => string | null;
}

/** A string with its references replaced, and the problems with them. */
export interface Substituted {
  readonly text: string;
  /** Values that replaced references. */
  readonly values: readonly string[];
  /** True if the string consists of one reference only. */
  readonly isWhole: boolean;
  readonly problems: readonly string[];
}

/** Replaces every `${env:NAME}` and `${file:PATH}`. The trailing newline of a file is removed. */
export function substitute(text: string, surroundings: SubstitutionContext): Substituted {
  const values: string[] = [];
  const problems: string[] = [];
  const put = (value: string) => {
    values.push(value);
    return value;
  };
  const replaced = text.replace(/\$\{([^}]*)\}/g, (whole, reference: string) => {
    const separator = reference.indexOf(':');
    const [scheme, name] = [reference.slice(0, separator), reference.slice(separator + 1)];
    if (separator < 0 || name === '' || (scheme !== 'env' && scheme !== 'file')) {
      problems.push(`${whole} is not a valid reference; use \${env:NAME} or \${file:PATH}`);
      return whole;
    }
    const refused = surroundings.refuse?.(scheme, name) ?? null;
    if (refused !== null) {
      problems.push(refused);
      return whole;
    }
    const found = scheme === 'env' ? fromEnvironment(name, surroundings) : fromFile(name, surroundings);
    if (found.problem !== undefined) {
      problems.push(found.problem);
      return whole;
    }
    return put(found.value);
  });
  return { text: replaced, values, isWhole: /^\$\{[^}]*\}$/.test(text), problems };
}

type Found = { readonly value: string; readonly problem?: undefined } | { readonly problem: string };

function fromEnvironment(name: string, { env }: SubstitutionContext): Found {
  const value = env[name];
  return value === undefined || value === ''
    ? { problem: `the environment variable ${name} is not set; set it, or write the value here` }
    : { value };
}

function fromFile(name: string, { readFile, base }: SubstitutionContext): Found {
  const path = isAbsolute(name) ? name : resolve(base, name);
  try {
    return { value: readFile(path).replace(/\r?\n$/, '') };
  } catch (error) {
    return { problem: `cannot read the file ${name} (${messageOf(error)}); create it, or write the value here` };
  }
}
