/** Compares answers with the vendor's OpenAPI documents. */
import { createParser } from 'eventsource-parser';
import type { Complaint, Response, VendorDocument, VendorOperation, Version } from './document.ts';
import type { Schema } from './schema.ts';
import { undeclared } from './undeclared.ts';

/** One request and its answer, as they were sent. */
export interface Exchange {
  readonly method: string;
  /** From `/v1`, encoded. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
  readonly requestBody: string;
  readonly status: number;
  /** Names in lower case. */
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answerBody: string;
}

/** One difference between an answer and a document. */
export interface Disagreement {
  readonly version: Version;
  readonly operation: string;
  readonly in: 'body' | 'status' | 'type' | 'header';
  /** JSON pointer of the value; empty for the whole. */
  readonly pointer: string;
  /** The violated keyword of JSON Schema, or `undeclared`, `missing`, `json`. */
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Place in the document, as the name of a schema and the path inside it. */
  readonly place: string;
}

type Part = Omit<Disagreement, 'version' | 'operation'>;

/** An answer with an error, whatever its status. Source: docs/platform-notes.md#errors */
const ERROR: Schema = { $ref: '#/components/schemas/Error' };

/** Returns every difference between an answer and the document. */
export class Judge {
  readonly #document: VendorDocument;
  readonly #ways: readonly { readonly operation: VendorOperation; readonly way: RegExp }[];

  constructor(document: VendorDocument) {
    this.#document = document;
    this.#ways = document.operations
      .map((operation) => ({ operation, way: patternOf(operation.path) }))
      // A path with fixed segments takes precedence over one with parameters.
      .toSorted((a, b) => opens(a.operation.path) - opens(b.operation.path));
  }

  /** Reports whether the document has the operation; exchanges of others have no differences. */
  has(exchange: Exchange): boolean {
    return this.#operationOf(exchange) !== undefined;
  }

  judge(exchange: Exchange): Disagreement[] {
    const { version } = this.#document;
    const operation = this.#operationOf(exchange);
    const parts = operation === undefined ? [] : this.#answer(operation, exchange);
    return parts.map((part) => ({ version, operation: operation?.id ?? '', ...part }));
  }

  #operationOf({ method, path }: Exchange): VendorOperation | undefined {
    const below = path.replace(/^\/v1(?=\/)/, '');
    return this.#ways.find(({ operation, way }) => operation.method === method && way.test(below))?.operation;
  }

  #answer(operation: VendorOperation, exchange: Exchange): Part[] {
    const { status } = exchange;
    const place = `${operation.id}/responses/${status}`;
    const response = operation.responses[status] ?? operation.responses.default;
    if (response === undefined) {
      const part: Part = { in: 'status', pointer: '', keyword: 'undeclared', params: { status }, place: '' };
      return [part, ...(status >= 400 ? this.#json(ERROR, 'Error', exchange.answerBody) : [])];
    }
    return [...missingHeaders(response, exchange, place), ...this.#answerBody(response, exchange, place)];
  }

  #answerBody({ content }: Response, exchange: Exchange, place: string): Part[] {
    const part = { pointer: '', place } as const;
    const declared = Object.keys(content ?? {});
    if (exchange.answerBody === '' || declared.length === 0) {
      const agrees = exchange.answerBody === '' && declared.length === 0;
      return agrees
        ? []
        : [{ ...part, in: 'body', keyword: exchange.answerBody === '' ? 'missing' : 'undeclared', params: {} }];
    }
    const type = (exchange.answerHeaders['content-type'] ?? '').split(';')[0]?.trim() ?? '';
    const schema = content?.[type]?.schema;
    if (schema === undefined) {
      return [{ ...part, in: 'type', keyword: 'undeclared', params: { type } }];
    }
    return type === 'text/event-stream'
      ? eventsOf(exchange.answerBody).flatMap((event) => this.#json(schema, place, event))
      : this.#json(schema, place, exchange.answerBody);
  }

  #json(schema: Schema, place: string, text: string): Part[] {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return [{ in: 'body', pointer: '', keyword: 'json', params: {}, place }];
    }
    const wrong = this.#document
      .check(schema, place, value)
      .map((complaint) => ({ in: 'body' as const, ...describeComplaint(complaint) }));
    const unnamed = undeclared(this.#document, schema, place, value).map((found) => ({
      in: 'body' as const,
      pointer: found.pointer,
      keyword: 'undeclared',
      params: { property: found.property },
      place: found.place,
    }));
    return [...wrong, ...unnamed];
  }
}

function opens(path: string): number {
  return path.split('{').length;
}

function patternOf(path: string): RegExp {
  const pattern = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`);
}

/** Returns the data of a stream's events, without the final line. Source: docs/platform-notes.md#ask */
function eventsOf(stream: string): string[] {
  const events: string[] = [];
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(stream);
  return events.filter((data) => data !== 'done');
}

function missingHeaders({ headers }: Response, exchange: Exchange, place: string): Part[] {
  return Object.keys(headers ?? {})
    .filter((name) => exchange.answerHeaders[name.toLowerCase()] === undefined)
    .map((name) => ({ in: 'header', pointer: '', keyword: 'missing', params: { name }, place }));
}

function describeComplaint({ error, place }: Complaint): Pick<Part, 'pointer' | 'keyword' | 'params' | 'place'> {
  return { pointer: error.instancePath, keyword: error.keyword, params: error.params, place };
}
