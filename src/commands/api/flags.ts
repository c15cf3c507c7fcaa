/** The options of `octavo api`, and which of them can be combined. */
import { ConfigError } from '../../core/errors.ts';
import type { FieldArgument } from './fields.ts';
import type { PreparedRequest } from './prepare.ts';

export interface ApiFlags {
  readonly method?: string;
  readonly data?: string;
  readonly paginate?: boolean;
  readonly jq?: string;
  readonly include?: boolean;
  readonly silent?: boolean;
  readonly slurp?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly raw?: boolean;
  /** A filter, or true without one. */
  readonly list?: string | true;
  readonly format: 'text' | 'json';
  readonly config?: string;
  readonly organization?: string;
}

/** Values of repeatable options, in the order of the command line. */
export interface RepeatableFlags {
  /** `-f` and `-F`. */
  readonly fields: readonly FieldArgument[];
  /** `-H`. */
  readonly headers: readonly string[];
}

/** Throws ConfigError when flags conflict with the request or with each other. */
export function checkFlags({ name, method, operation }: PreparedRequest, flags: ApiFlags): void {
  const { paginate, include, slurp, silent, jq } = flags;
  if (paginate === true && (method !== 'GET' || operation?.paginated === false)) {
    throw new ConfigError(`${name} is not a paginated list; leave out --paginate`);
  }
  if (slurp === true && paginate !== true) {
    throw new ConfigError('--slurp requires --paginate');
  }
  if (include === true && paginate === true) {
    throw new ConfigError('-i cannot be combined with --paginate, because each page has its own headers');
  }
  if (silent === true && jq !== undefined) {
    throw new ConfigError('--silent cannot be combined with --jq');
  }
}
