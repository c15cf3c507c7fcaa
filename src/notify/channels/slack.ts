/** Channel that writes to Slack with the token of a bot: one thread for each message. */

import { LogLevel, WebAPIPlatformError, WebAPIRequestError, WebClient } from '@slack/web-api';
import * as z from 'zod';
import type { ChannelConfig } from '../../config/notifications.ts';
import type { Notification } from '../model/notification.ts';
import { type Channel, ChannelError, type Outgoing, type Receipt, type SendFailure } from './channel.ts';
import { type ChannelContext, HttpSender } from './http-sender.ts';
import { writeSlackMessage } from './slack-message.ts';

type SlackConfig = NonNullable<ChannelConfig['slack']>;

/** Place of a message. */
const slackReceipt = z.object({ channel: z.string().min(1).optional(), ts: z.string().min(1) });
/** Errors after which Slack may have the message: part of its work may be done. */
const UNKNOWN = new Set(['internal_error', 'fatal_error', 'request_timeout']);
/** Errors that end by themselves. */
const TEMPORARY = new Set(['ratelimited', 'rate_limited', 'service_unavailable', 'team_added_to_org']);
/** Errors of an update or an answer whose first message was deleted or is too old. */
const GONE = new Set([
  'message_not_found',
  'thread_not_found',
  'cannot_reply_to_message',
  'cant_update_message',
  'edit_window_closed',
]);
const ADVICE: Readonly<Record<string, string>> = {
  not_in_channel: 'invite the bot to the channel',
  channel_not_found: 'check the id of the channel, and invite the bot to it',
  is_archived: 'choose a channel that is not archived',
  missing_scope: 'give the bot the scope chat:write',
  invalid_auth: 'check the token',
  not_authed: 'check the token',
  token_revoked: 'create a new token',
  token_expired: 'create a new token',
  account_inactive: 'create a new token',
};

/**
 * Opens Slack. Later messages of a thread are answers to the first one, which is updated, so that the channel shows what
 * is resolved.
 */
export function openSlackChannel({ token, channel, apiUrl }: SlackConfig, context: ChannelContext): Channel {
  const sender = new HttpSender(apiUrl, context);
  return {
    name: context.name,
    isPager: false,
    async send(outgoing, signal) {
      const client = createClient(token, apiUrl, sender, context, signal);
      const { channel: id, ts } = outgoing.receipt ?? {};
      if (id === undefined || ts === undefined) {
        return post(client, channel, outgoing);
      }
      // An update can be repeated, an answer cannot: if the second request fails, both are sent again.
      const isThere = await update(client, id, ts, outgoing.message);
      const isTold = isThere && (await answer(client, id, ts, outgoing));
      return isTold ? outgoing.receipt : post(client, channel, outgoing);
    },
    close: () => sender.close(),
  };
}

/** Creates a client for one message. It is Slack's, without its own queue, retries and logs. */
function createClient(
  token: string,
  apiUrl: string,
  sender: HttpSender,
  { userAgent }: ChannelContext,
  signal: AbortSignal,
): WebClient {
  return new WebClient(token, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    retryConfig: { retries: 0 },
    headers: { 'User-Agent': userAgent },
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
      setLevel: () => undefined,
      getLevel: () => LogLevel.ERROR,
      setName: () => undefined,
    },
    async fetch(url, init) {
      const { status, body } = await sender.post(String(url), String(init?.body ?? ''), init?.headers ?? {}, signal);
      if (body === null || !isJson(body)) {
        throw unreadable();
      }
      return new Response(body, { status });
    },
  });
}

async function post(client: WebClient, channel: string, outgoing: Outgoing, thread?: string): Promise<Receipt | null> {
  const answered = await call(() =>
    client.chat.postMessage({
      channel,
      ...writeSlackMessage(outgoing.message),
      // Neither in the fallback text.
      mrkdwn: false,
      parse: 'none',
      link_names: false,
      metadata: { event_type: 'octavo_notification', event_payload: { id: outgoing.id, thread: outgoing.thread } },
      ...(thread === undefined ? {} : { thread_ts: thread }),
    }),
  );
  const { channel: id, ts } = slackReceipt.safeParse(answered).data ?? {};
  // A message without its place is answered by messages that stand alone.
  return ts === undefined ? null : { channel: id ?? channel, ts };
}

/** Updates the first message of a thread, if something is resolved. Returns false if it is not there any more. */
async function update(client: WebClient, channel: string, ts: string, message: Notification): Promise<boolean> {
  if (!message.items.some(({ state }) => state === 'resolved')) {
    return true;
  }
  const { text, blocks } = writeSlackMessage(message);
  return unlessGone(() => client.chat.update({ channel, ts, text, blocks, parse: 'none', link_names: false }));
}

/** Answers in a thread. Returns false if the thread is not there any more. */
function answer(client: WebClient, channel: string, ts: string, outgoing: Outgoing): Promise<boolean> {
  return unlessGone(() => post(client, channel, outgoing, ts));
}

async function unlessGone(request: () => Promise<unknown>): Promise<boolean> {
  try {
    await call(request);
    return true;
  } catch (error) {
    if (error instanceof SlackRefusal && GONE.has(error.reason)) {
      return false;
    }
    throw error;
  }
}

/** Refusal by Slack, with its code. */
class SlackRefusal extends ChannelError {
  readonly reason: string;

  constructor(reason: string) {
    const failure: SendFailure = UNKNOWN.has(reason) ? 'unknown' : TEMPORARY.has(reason) ? 'not-taken' : 'rejected';
    const advice = ADVICE[reason];
    super(`Slack refused the message: ${reason}${advice === undefined ? '' : `; ${advice}`}`, failure);
    this.reason = reason;
  }
}

async function call<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw channelError(error);
  }
}

function channelError(error: unknown): ChannelError {
  if (error instanceof ChannelError) {
    return error;
  }
  if (error instanceof WebAPIRequestError && error.original instanceof ChannelError) {
    return error.original;
  }
  const reason: unknown = error instanceof WebAPIPlatformError ? error.data.error : undefined;
  return typeof reason === 'string' && /^[a-z0-9_]{1,60}$/.test(reason) ? new SlackRefusal(reason) : unreadable();
}

function unreadable(): ChannelError {
  return new ChannelError('the answer of Slack cannot be read', 'unknown');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
