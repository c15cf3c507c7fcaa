// Reads one response completely.
import type { Dispatcher } from 'undici';
import type { AppError, NotThePlatformError, TransientError } from '../../core/errors.ts';
import type { CancelSignal } from '../../queue/request.ts';
import { decodeBody, readError } from './body.ts';
import { networkError } from './network-error.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Time at which the headers arrived, in monotonic milliseconds. */
  readonly receivedAt: number;
  /** Text, or the error that ended it. */
  readonly body: string | TransientError | NotThePlatformError;
}

interface ResponseOptions {
  /** Origin of the request, for messages. */
  readonly origin: string;
  readonly signal: CancelSignal;
  readonly encoding: 'utf8' | 'latin1';
  /** Token of the request. */
  readonly token: string;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
  /** Returns the error of a request that must not be sent any more. */
  readonly refusal: (() => AppError | null) | undefined;
}

/** Headers of a response, and the time at which they arrived. */
type ResponseHead = Omit<HttpAnswer, 'body'>;

/** Bytes after which a response that must not have a body is cut off. */
const MAX_IGNORED = 128 * 1024;

/**
 * Receives one response from undici and settles one promise with it. Responses are small and many: reading them without
 * a stream takes a fraction of the time and memory. Rejects as `Transport.send` does.
 */
export class WholeResponse implements Dispatcher.DispatchHandler {
  readonly promise: Promise<HttpAnswer>;
  readonly #options: ResponseOptions;
  readonly #chunks: Buffer[] = [];
  #resolve: (answer: HttpAnswer) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #head: ResponseHead | null = null;
  #ignored = 0;
  #isSettled = false;

  constructor(options: ResponseOptions) {
    this.#options = options;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal.addEventListener('abort', this);
  }

  /** Receives the event of the signal. */
  handleEvent(): void {
    this.#controller?.abort(this.#options.signal.reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { signal, refusal } = this.#options;
    if (signal.aborted) {
      controller.abort(signal.reason);
      return;
    }
    const refused = refusal?.() ?? null;
    if (refused !== null) {
      this.#settle(() => this.#reject(refused));
      controller.abort(refused);
    }
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HttpAnswer['headers']): void {
    // A 1xx response precedes the real one.
    if (status < 200) {
      return;
    }
    this.#head = { status, headers, receivedAt: this.#options.now() };
    if (status === 204 || status === 205) {
      // No body by definition. Some servers do not mark its end, and waiting for it would time out.
      this.#finish('');
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isSettled) {
      this.#chunks.push(chunk);
      return;
    }
    this.#ignored += chunk.length;
    if (this.#ignored > MAX_IGNORED) {
      controller.abort(new Error('a response without a body has one'));
    }
  }

  onResponseEnd(): void {
    const { origin, encoding } = this.#options;
    const [first, ...rest] = this.#chunks;
    const bytes = first !== undefined && rest.length === 0 ? first : Buffer.concat(this.#chunks);
    const coding = String(this.#head?.headers['content-encoding'] ?? '').toLowerCase();
    this.#finish(decodeBody(bytes, coding, origin, encoding));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { signal, origin } = this.#options;
    if (this.#head !== null && !signal.aborted) {
      this.#finish(readError(error, origin));
      return;
    }
    this.#settle(() => this.#reject(signal.aborted ? signal.reason : networkError(error, origin)));
  }

  #finish(body: HttpAnswer['body']): void {
    const head = this.#head;
    this.#settle(() => head !== null && this.#resolve(withoutToken({ ...head, body }, this.#options.token)));
  }

  #settle(settle: () => void): void {
    if (!this.#isSettled) {
      this.#isSettled = true;
      this.#options.signal.removeEventListener('abort', this);
      settle();
    }
  }
}

/** Removes the token from the body of an error, which is repeated in messages and on pages. */
export function withoutToken(answer: HttpAnswer, token: string): HttpAnswer {
  return answer.status < 400 || typeof answer.body !== 'string' || token === ''
    ? answer
    : { ...answer, body: answer.body.replaceAll(token, '[secret]') };
}
