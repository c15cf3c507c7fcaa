/** Channels that messages are sent to, and the requests that most of them send. */
import { type Clock, SLEEP_ENDED } from '../core/clock.ts';
import { AppError, type Disposition, TransientError } from '../core/errors.ts';
import { networkError, openDispatcher } from '../platform/http/dispatcher.ts';
import { readRateHeaders } from '../queue/request.ts';
import type { Notification } from './messages.ts';

/** Reference to the first message of a thread at its channel, to answer in it or to update it. Kept in the state file. */
export type Receipt = Readonly<Record<string, string>>;

/** A message to send. */
export interface Outgoing {
  /** The same for all attempts: receivers that know it drop repeated ones. Letters, digits, `_` and `-`. */
  readonly id: string;
  /** Id of the first message of the thread. */
  readonly thread: string;
  /** The whole thread as it is now, not only what changed: its state decides whether an incident is over. */
  readonly message: Notification;
  /** Of the first message of the thread; null if this is the first one, or its answer was lost. */
  readonly receipt: Receipt | null;
}

/** A channel of the configuration. */
export interface Channel {
  readonly name: string;
  /** True: each thread is one incident that people are paged for. */
  readonly isPager: boolean;
  /**
   * Sends one message. Resolves once the receiver has taken it. Throws {@link ChannelError}, and nothing else.
   */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Receipt | null>;
  /** Ends connections that are kept open. */
  close(): Promise<void>;
}

/**
 * `not-taken`: the receiver certainly does not have the message; sending it again may succeed. `unknown`: it may have
 * it. `rejected`: it does not have it, and sending it again cannot succeed.
 */
export type SendFailure = 'not-taken' | 'unknown' | 'rejected';

/** A message was not sent, or its answer was lost. The text has no secrets: no URL of a webhook, no token. */
export class ChannelError extends AppError {
  readonly code = 'channel-failing';
  readonly disposition: Disposition;
  readonly failure: SendFailure;
  /** Milliseconds until the next attempt, as the receiver says; null if it does not. */
  readonly retryAfter: number | null;

  constructor(message: string, failure: SendFailure, retryAfter: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
    this.disposition = failure === 'rejected' ? 'stall' : 'retry';
    this.retryAfter = retryAfter;
  }
}

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

/** Sends POST requests to one origin. */
export type HttpSender = ReturnType<typeof openSender>;

/** Opens connections to the origin of a URL. The paths of its URLs are secrets: no error names them. */
export function openSender(channelUrl: string, { clock, userAgent }: ChannelContext) {
  const { origin } = new URL(channelUrl);
  const dispatcher = openDispatcher(origin, {
    connections: 1,
    connectTimeout: CONNECT_TIMEOUT,
    headersTimeout: SEND_TIMEOUT,
    bodyTimeout: SEND_TIMEOUT,
    maxResponseSize: MAX_ANSWER,
  });
  return {
    /**
     * Sends a body. The body of the answer is null if it did not arrive completely, or is too large. Throws ChannelError,
     * also for every status that is not a success.
     */
    async post(url: string, body: string, headers: RequestHeaders, signal: AbortSignal) {
      if (signal.aborted) {
        throw new ChannelError(`nothing was sent to ${origin}: Octavo is stopping`, 'not-taken');
      }
      const { pathname, search } = new URL(url);
      const answer = await withTimeout(clock, signal, async (ended) => {
        const request = { origin, method: 'POST' as const, path: pathname + search, body, signal: ended };
        const all = { 'user-agent': userAgent, ...headers };
        // An idle connection may be closed at the other end by now: then nobody would know whether the message was taken.
        const response = await dispatcher
          .request({ ...request, headers: all, reset: true })
          .catch((error: unknown) => Promise.reject(connectionError(error, origin, ended)));
        const text = await response.body.text().catch(() => null);
        return { status: response.statusCode, headers: response.headers, body: text };
      });
      if (answer.status < 200 || answer.status > 299) {
        throw statusError(origin, answer.status, readRateHeaders(answer.headers).retryAfter);
      }
      return answer;
    },
    close: () => dispatcher.destroy(),
  };
}

type RequestHeaders = Readonly<Record<string, string>>;

function connectionError(error: unknown, origin: string, signal: AbortSignal): ChannelError {
  if (signal.aborted) {
    return new ChannelError(`${origin} did not answer in time`, 'unknown');
  }
  const known = networkError(error, origin);
  const failure = known instanceof TransientError ? (known.maybeDone ? 'unknown' : 'not-taken') : 'rejected';
  return new ChannelError(known.message, failure);
}

/**
 * Opens a channel that sends each message as one request, which refers to no earlier one. `write` returns the JSON of a
 * message, and its URL if that is not the one of the channel.
 */
export function openHttpChannel(
  url: string,
  { isPager }: Pick<Channel, 'isPager'>,
  context: ChannelContext,
  write: (outgoing: Outgoing) => { readonly url?: string; readonly body: string; readonly headers?: RequestHeaders },
): Channel {
  const sender = openSender(url, context);
  return {
    name: context.name,
    isPager,
    async send(outgoing, signal) {
      const { url: to = url, body, headers } = write(outgoing);
      await sender.post(to, body, { 'content-type': 'application/json', ...headers }, signal);
      return null;
    },
    close: sender.close,
  };
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
