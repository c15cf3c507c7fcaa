/** Sends messages over HTTP, and tells apart what was taken, refused and lost. */
import type { Dispatcher } from 'undici';
import { type Clock, SLEEP_ENDED } from '../../core/clock.ts';
import { TransientError } from '../../core/errors.ts';
import { openDispatcher } from '../../platform/http/dispatcher.ts';
import { networkError } from '../../platform/http/network-error.ts';
import { readRateHeaders } from '../../queue/request.ts';
import { ChannelError, type SendFailure } from './channel.ts';

/** Dependencies of every channel. */
export interface ChannelContext {
  /** Name in the configuration. */
  readonly name: string;
  readonly userAgent: string;
  readonly clock: Clock;
}

/** Milliseconds until an answer must be complete. */
export const SEND_TIMEOUT = 30_000;
const CONNECT_TIMEOUT = 10_000;
/** Largest answer that is read, in bytes. */
const MAX_ANSWER = 64 * 1024;

/** Answer with a status of success. */
export interface SenderAnswer {
  readonly status: number;
  /** Null if it did not arrive completely, or is too large. */
  readonly body: string | null;
}

type SenderHeaders = Readonly<Record<string, string>>;

/** Sends POST requests to one origin. The paths of its URLs are secrets: no error names them. */
export class HttpSender {
  readonly #context: ChannelContext;
  readonly #origin: string;
  readonly #dispatcher: Dispatcher;

  constructor(url: string, context: ChannelContext) {
    this.#context = context;
    this.#origin = new URL(url).origin;
    this.#dispatcher = openDispatcher(this.#origin, {
      connections: 1,
      connectTimeout: CONNECT_TIMEOUT,
      headersTimeout: SEND_TIMEOUT,
      bodyTimeout: SEND_TIMEOUT,
      maxResponseSize: MAX_ANSWER,
    });
  }

  /** Sends a body. Throws ChannelError, also for every status that is not a success. */
  async post(url: string, body: string, headers: SenderHeaders, signal: AbortSignal): Promise<SenderAnswer> {
    if (signal.aborted) {
      throw new ChannelError(`nothing was sent to ${this.#origin}: Octavo is stopping`, 'not-taken');
    }
    const { pathname, search } = new URL(url);
    const answer = await withTimeout(this.#context.clock, signal, async (ended) => {
      const request = { origin: this.#origin, method: 'POST' as const, path: pathname + search, body, signal: ended };
      const all = { 'user-agent': this.#context.userAgent, ...headers };
      // An idle connection may be closed at the other end by now: then nobody would know whether the message was taken.
      const response = await this.#dispatcher
        .request({ ...request, headers: all, reset: true })
        .catch((error: unknown) => Promise.reject(this.#connectionError(error, ended)));
      const text = await response.body.text().catch(() => null);
      return { status: response.statusCode, headers: response.headers, body: text };
    });
    if (answer.status < 200 || answer.status > 299) {
      throw statusError(this.#origin, answer.status, readRateHeaders(answer.headers).retryAfter);
    }
    return { status: answer.status, body: answer.body };
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  #connectionError(error: unknown, signal: AbortSignal): ChannelError {
    if (signal.aborted) {
      return new ChannelError(`${this.#origin} did not answer in time`, 'unknown');
    }
    const known = networkError(error, this.#origin);
    const failure = known instanceof TransientError ? (known.maybeDone ? 'unknown' : 'not-taken') : 'rejected';
    return new ChannelError(known.message, failure);
  }
}

/** Runs work whose signal aborts with the given one, and after {@link SEND_TIMEOUT}. */
export async function withTimeout<T>(
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  clock.sleep(SEND_TIMEOUT, done.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    done.abort(SLEEP_ENDED);
  }
}

/** Statuses with which a receiver says that it did not process a request. */
const NOT_TAKEN = new Set([408, 425, 429]);

function statusError(origin: string, status: number, retryAfter: number | null): ChannelError {
  // An intermediary may fail after the receiver has taken the message.
  const failure: SendFailure = status >= 500 ? 'unknown' : NOT_TAKEN.has(status) ? 'not-taken' : 'rejected';
  return new ChannelError(`${origin} answered with ${status}${adviceOn(status)}`, failure, retryAfter);
}

function adviceOn(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return '; check the credentials of the channel';
    case 404:
    case 410:
      return '; check the URL of the channel: it may have been deleted';
    case 429:
      return ', the rate limit of the receiver';
    default:
      return status >= 300 && status < 400 ? '; redirects are not followed, write the URL that it redirects to' : '';
  }
}
