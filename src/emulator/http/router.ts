/** Routing of requests to operations. */

import createFinder from 'find-my-way';
import type { ApiOperation } from '../model/operation.ts';

/** Method and path of an operation. */
export type ApiRoute = Pick<ApiOperation, 'method' | 'path'>;

/** An operation, and the ids that a path names. */
export interface Match<O extends ApiRoute = ApiOperation> {
  readonly operation: O;
  readonly params: Readonly<Record<string, string>>;
}

const PREFIX = '/v1/';

/**
 * Finds operations by method and path, as strictly as the platform: case, slashes and encoding of fixed segments must
 * match, and no id may be empty.
 */
export class Router<O extends ApiRoute = ApiOperation> {
  readonly #finder = createFinder({ caseSensitive: true, maxParamLength: 1_000_000 });

  /** Throws if two operations have the same method and path. */
  constructor(operations: Iterable<O>) {
    for (const operation of operations) {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      this.#finder.on(operation.method, `/v1${path}`, () => {}, operation);
    }
  }

  /** Returns undefined if the API has no such operation. */
  find(method: string, path: string): Match<O> | undefined {
    if (!path.startsWith(PREFIX)) {
      return undefined;
    }
    // Escaped once more, so that the finder neither decodes fixed segments nor ends the path at one of these characters.
    const escaped = path.replaceAll(/[%?#;]/g, encodeURIComponent);
    const found = this.#finder.find(method as ApiOperation['method'], escaped);
    const params = Object.entries(found?.params ?? {}).map(([name, value]) => [name, decode(value ?? '')] as const);
    return found === null || params.some(([, value]) => value === '')
      ? undefined
      : { operation: found.store as O, params: Object.fromEntries(params) };
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
