/** Slack: channels with messages and threads, and an incoming webhook. */
import * as z from 'zod';
import { FakeReceiver, type ReceivedRequest, type ReceiverReply } from './fake-receiver.ts';

const element = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text: z.string().min(1),
    style: z.strictObject({ bold: z.boolean() }).optional(),
  }),
  z.strictObject({ type: z.literal('link'), url: z.url({ protocol: /^https?$/ }), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('emoji'), name: z.string().regex(/^[a-z_]+$/) }),
  // They notify people.
  z.strictObject({ type: z.literal('user'), user_id: z.string() }),
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']) }),
]);
const BLOCKS = z
  .array(
    z.strictObject({
      type: z.literal('rich_text'),
      elements: z.array(z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(element) })).min(1),
    }),
  )
  .max(50);
const MAX_LENGTH = 40_000;

export type SlackElements = z.output<typeof element>[];

export interface SlackMessage {
  readonly ts: string;
  /** First message of its thread; null if it is one. */
  readonly thread: string | null;
  text: string;
  lines: SlackElements[];
  /** Formatting of the text is on. */
  readonly isFormatted: boolean;
  readonly metadata: unknown;
  edits: number;
}

const refuse = (error: string): ReceiverReply => ({ status: 200, body: JSON.stringify({ ok: false, error }) });

export class FakeSlack extends FakeReceiver {
  readonly token = 'xoxb-canary-of-the-token';
  readonly channel = 'C0123456789';
  /** Reason why the bot cannot write; null if it can. */
  problem: string | null = null;
  readonly messages: SlackMessage[] = [];
  readonly webhookPath = '/services/T0/B0/canaryofthepath';

  get apiUrl(): string {
    return `${this.url}/api`;
  }

  protected handle(request: ReceivedRequest): ReceiverReply {
    if (request.path === this.webhookPath) {
      return this.#receive(JSON.parse(request.body) as Record<string, unknown>);
    }
    if (request.headers.authorization !== `Bearer ${this.token}`) {
      return refuse('invalid_auth');
    }
    const form = Object.fromEntries(new URLSearchParams(request.body));
    const known = form.channel === this.channel;
    const problem = known ? this.problem : 'channel_not_found';
    if (problem !== null) {
      return refuse(problem);
    }
    switch (request.path) {
      case '/api/chat.postMessage':
        return this.#post(form);
      case '/api/chat.update':
        return this.#update(form);
      default:
        return refuse('unknown_method');
    }
  }

  #post(form: Record<string, string>): ReceiverReply {
    const blocks = BLOCKS.safeParse(JSON.parse(form.blocks ?? 'null'));
    const thread = form.thread_ts ?? null;
    if (!blocks.success || (form.text ?? '').length + (form.blocks ?? '').length > MAX_LENGTH) {
      return refuse('invalid_blocks');
    }
    if (thread !== null && !this.messages.some(({ ts }) => ts === thread)) {
      return refuse('thread_not_found');
    }
    const isFormatted = form.mrkdwn !== 'false' || form.parse !== 'none' || form.link_names !== 'false';
    const ts = this.#add(form.text ?? '', blocks.data, thread, isFormatted, JSON.parse(form.metadata ?? 'null'));
    return { status: 200, body: JSON.stringify({ ok: true, channel: this.channel, ts }) };
  }

  #add(text: string, blocks: z.output<typeof BLOCKS>, thread: string | null, isFormatted: boolean, metadata: unknown) {
    const ts = `1700000000.${String(this.messages.length + 1).padStart(6, '0')}`;
    const lines = blocks.flatMap(({ elements }) => elements.map((section) => section.elements));
    this.messages.push({ ts, thread, text, lines, isFormatted, metadata, edits: 0 });
    return ts;
  }

  #update(form: Record<string, string>): ReceiverReply {
    const message = this.messages.find(({ ts }) => ts === form.ts);
    const blocks = BLOCKS.safeParse(JSON.parse(form.blocks ?? 'null'));
    if (message === undefined || !blocks.success) {
      return refuse(message === undefined ? 'message_not_found' : 'invalid_blocks');
    }
    message.text = form.text ?? '';
    message.lines = blocks.data.flatMap(({ elements }) => elements.map((section) => section.elements));
    message.edits += 1;
    return { status: 200, body: JSON.stringify({ ok: true, channel: this.channel, ts: message.ts }) };
  }

  #receive({ text, blocks, mrkdwn }: Record<string, unknown>): ReceiverReply {
    const parsed = BLOCKS.safeParse(blocks);
    if (!parsed.success) {
      return { status: 400, body: 'invalid_blocks' };
    }
    this.#add(String(text), parsed.data, null, mrkdwn !== false, null);
    return { status: 200, body: 'ok' };
  }
}

/** Returns the text of a line as people see it. */
export function shownLine(elements: SlackElements): string {
  return elements.map((each) => ('text' in each ? each.text : each.type === 'emoji' ? `:${each.name}:` : '@')).join('');
}
