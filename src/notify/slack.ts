/** Channels that write to Slack: with the token of a bot, one thread for each message, or to an incoming webhook. */
import { LogLevel, WebAPIPlatformError, WebAPIRequestError, WebClient } from '@slack/web-api';
import * as z from 'zod';
import type { ChannelConfig } from '../config/notifications.ts';
import type { Severity } from '../core/condition-codes.ts';
import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type HttpSender,
  type Outgoing,
  openHttpChannel,
  openSender,
  type Receipt,
} from './channel.ts';
import { type ItemLines, layOut, renderWithin } from './layout.ts';
import type { Notification } from './messages.ts';

type SlackConfig = NonNullable<ChannelConfig['slack']>;
type SlackWebhookConfig = NonNullable<ChannelConfig['slackWebhook']>;

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
  const sender = openSender(apiUrl, context);
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
      const isTold = isThere && (await unlessGone(() => post(client, id, outgoing, ts)));
      return isTold ? outgoing.receipt : post(client, channel, outgoing);
    },
    close: sender.close,
  };
}

/** Opens an incoming webhook: no threads, and no updates. */
export function openSlackWebhookChannel({ url }: SlackWebhookConfig, context: ChannelContext): Channel {
  return openHttpChannel(url, { isPager: false }, context, ({ message }) => ({
    body: JSON.stringify({ ...writeSlackMessage(message), mrkdwn: false }),
  }));
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
      if (!isJson(body ?? '')) {
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

/** Returns false if the first message of the thread is not there any more. */
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
    const failure = UNKNOWN.has(reason) ? 'unknown' : TEMPORARY.has(reason) ? 'not-taken' : 'rejected';
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

/** Elements that Slack shows without interpreting their texts. */
type SlackElement =
  | { readonly type: 'text'; readonly text: string; readonly style?: { readonly bold: true } }
  | { readonly type: 'link'; readonly url: string; readonly text: string }
  | { readonly type: 'emoji'; readonly name: string };

/** UTF-16 code units of the blocks as JSON. Slack takes 40,000 in all. */
const MAX_BLOCKS = 12_000;
const EMOJI: Readonly<Record<Severity, string>> = {
  page: 'red_circle',
  warning: 'large_orange_circle',
  info: 'large_blue_circle',
};

/**
 * Writes a message for `chat.postMessage`, `chat.update` and incoming webhooks. All texts of others are in elements that
 * Slack shows as they are. `text` is for notifications, and for clients that cannot show blocks.
 */
export function writeSlackMessage(message: Notification) {
  return renderWithin(message, MAX_BLOCKS, render, ({ blocks }) => JSON.stringify(blocks).length);
}

function render(message: Notification) {
  const { heading, severity, isResolved, items, remarks } = layOut(message);
  const title: SlackElement[] = [
    { type: 'emoji', name: isResolved ? 'white_check_mark' : EMOJI[severity] },
    { type: 'text', text: ' ' },
    { type: 'text', text: heading, style: { bold: true } },
  ];
  const lines = [title, ...items.flatMap(itemElements), ...remarks.map(textLine)];
  const elements = lines.map((each) => ({ type: 'rich_text_section' as const, elements: each }));
  const blocks = [{ type: 'rich_text' as const, elements }];
  return { text: escapeMrkdwn(heading), blocks, unfurl_links: false, unfurl_media: false };
}

function itemElements({ heading, time, details, url }: ItemLines): SlackElement[][] {
  const link: SlackElement[] = url === null ? [] : [...textLine(' '), { type: 'link', url, text: 'Open' }];
  return [[...textLine(`• ${heading} (${time})`), ...link], ...details.map((line) => textLine(`    ${line}`))];
}

function textLine(text: string): SlackElement[] {
  return [{ type: 'text', text }];
}

/** Text whose sequences of Slack's markup are shown as they are. Formatting is off in the message that contains it. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
