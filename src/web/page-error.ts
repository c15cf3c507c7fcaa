/** Error that is the answer to a request: a status, and a message for the person. */
import type { JsonObject } from '../core/json.ts';
import type { Html } from './page.ts';

/** More about an error, for pages and for programs. */
export interface ErrorDetail {
  readonly html: Html;
  readonly json: JsonObject;
}

export class PageError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: ErrorDetail | null;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    detail: ErrorDetail | null = null,
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.detail = detail;
  }
}
