/** Compares exchanges with the vendor's OpenAPI documents. */
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
  /** Media type, without its parameters. */
  readonly requestType: string | undefined;
  readonly requestBody: string;
  readonly status: number;
  /** Names in lower case. */
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answerBody: string;
}

/** One difference between an exchange and a document. */
export interface Disagreement {
  readonly version: Version;
  /** Operation id, or method and path where the document has no such operation. */
  readonly operation: string;
  readonly side: 'request' | 'answer';
  readonly status: number;
  readonly in: 'operation' | 'path' | 'query' | 'body' | 'status' | 'type' | 'header';
  /** JSON pointer of the value; empty for the whole. */
  readonly pointer: string;
  /** The violated keyword of JSON Schema, or `undeclared`, `missing`, `json`. */
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Place in the document, as the name of a schema and the path inside it. */
  readonly place: string;
}

type Part = Omit<Disagreement, 'version' | 'operation' | 'status'>;

/** An answer with an error, whatever its status. Source: docs/platform-notes.md#errors */
const ERROR: Schema = { $ref: '#/components/schemas/Error' };

/** Returns every difference between an exchange and the document. */
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

  /** The body of a rejected request is not validated: only the rejection is. */
  judge(exchange: Exchange): Disagreement[] {
    const { version } = this.#document;
    const path = exchange.path.replace(/^\/v1(?=\/)/, '');
    const { status } = exchange;
    const match = this.#ways.find(({ operation, way }) => operation.method === exchange.method && way.test(path));
    if (match === undefined) {
      const operation = `${exchange.method} ${path}`;
      const part = {
        side: 'request',
        in: 'operation',
        pointer: '',
        keyword: 'undeclared',
        params: {},
        place: '',
      } as const;
      return [{ version, operation, status, ...part }];
    }
    const { operation, way } = match;
    const request = status < 400 ? this.#request(operation, way.exec(path)?.groups ?? {}, exchange) : [];
    return [...request, ...this.#answer(operation, exchange)].map((part) => ({
      version,
      operation: operation.id,
      status,
      ...part,
    }));
  }

  #request(operation: VendorOperation, path: Record<string, string>, exchange: Exchange): Part[] {
    const given = Object.fromEntries(Object.entries(path).map(([name, value]) => [name, decodeURIComponent(value)]));
    return [
      ...this.#parameters(operation, 'path', given),
      ...this.#parameters(operation, 'query', queryOf(exchange.search)),
      ...this.#requestBody(operation, exchange),
    ];
  }

  #parameters(operation: VendorOperation, kind: 'path' | 'query', given: Record<string, unknown>): Part[] {
    const parameters = operation.parameters.filter((parameter) => parameter.in === kind);
    const schema: Schema = {
      type: 'object',
      properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.schema])),
      required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
      additionalProperties: false,
    };
    return this.#document
      .checkText(schema, `${operation.id}/${kind}`, given)
      .map((complaint) => ({ side: 'request', in: kind, ...describeComplaint(complaint) }));
  }

  #requestBody(operation: VendorOperation, exchange: Exchange): Part[] {
    const { requestBody } = operation;
    const place = `${operation.id}/requestBody`;
    const part = { side: 'request', pointer: '', place } as const;
    if (exchange.requestBody === '') {
      return requestBody?.required === true ? [{ ...part, in: 'body', keyword: 'missing', params: {} }] : [];
    }
    if (requestBody === undefined) {
      return [{ ...part, in: 'body', keyword: 'undeclared', params: {} }];
    }
    const media = requestBody.content[exchange.requestType ?? ''];
    return media === undefined
      ? [{ ...part, in: 'type', keyword: 'undeclared', params: { type: exchange.requestType } }]
      : this.#json('request', media.schema, place, exchange.requestBody);
  }

  #answer(operation: VendorOperation, exchange: Exchange): Part[] {
    const { status } = exchange;
    const place = `${operation.id}/responses/${status}`;
    const response = operation.responses[status] ?? operation.responses.default;
    if (response === undefined) {
      const part: Part = {
        side: 'answer',
        in: 'status',
        pointer: '',
        keyword: 'undeclared',
        params: { status },
        place: '',
      };
      return [part, ...(status >= 400 ? this.#json('answer', ERROR, 'Error', exchange.answerBody) : [])];
    }
    return [...missingHeaders(response, exchange, place), ...this.#answerBody(response, exchange, place)];
  }

  #answerBody({ content }: Response, exchange: Exchange, place: string): Part[] {
    const part = { side: 'answer', pointer: '', place } as const;
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
      ? eventsOf(exchange.answerBody).flatMap((event) => this.#json('answer', schema, place, event))
      : this.#json('answer', schema, place, exchange.answerBody);
  }

  #json(side: Part['side'], schema: Schema, place: string, text: string): Part[] {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return [{ side, in: 'body', pointer: '', keyword: 'json', params: {}, place }];
    }
    const wrong = this.#document
      .check(schema, place, value)
      .map((complaint) => ({ side, in: 'body' as const, ...describeComplaint(complaint) }));
    const unnamed = undeclared(this.#document, schema, place, value).map((found) => ({
      ...{
        side,
        in: 'body' as const,
        pointer: found.pointer,
        keyword: 'undeclared',
        params: { property: found.property },
      },
      place: found.place,
    }));
    return [...wrong, ...unnamed];
  }
}

function opens(path: string): number {
  return path.split('{').length;
}

function patternOf(path: string): RegExp {
  const pattern = path.replace(/[.]/g, '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${pattern}$`);
}

function queryOf(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const before = query[name];
    query[name] = before === undefined ? value : [before, value].flat();
  }
  return query;
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
    .map((name) => ({ side: 'answer', in: 'header', pointer: '', keyword: 'missing', params: { name }, place }));
}

function describeComplaint({ error, place }: Complaint): Pick<Part, 'pointer' | 'keyword' | 'params' | 'place'> {
  return { pointer: error.instancePath, keyword: error.keyword, params: error.params, place };
}
