/** Messages of Slack. All texts of others are in elements that Slack shows without interpreting them. */
import type { Severity } from '../../core/condition-codes.ts';
import type { Notification } from '../model/notification.ts';
import { type ItemLines, type Layout, layOut } from './layout.ts';
import { renderWithin } from './render-within.ts';

interface SlackText {
  readonly type: 'text';
  readonly text: string;
  readonly style?: { readonly bold: true };
}

type SlackElement =
  | SlackText
  | { readonly type: 'link'; readonly url: string; readonly text: string }
  | { readonly type: 'emoji'; readonly name: string };

interface SlackBlock {
  readonly type: 'rich_text';
  readonly elements: { readonly type: 'rich_text_section'; readonly elements: SlackElement[] }[];
}

/** Content of a message, for `chat.postMessage`, `chat.update` and incoming webhooks. */
export interface SlackContent {
  /** For notifications, and for clients that cannot show blocks. */
  readonly text: string;
  readonly blocks: SlackBlock[];
  readonly unfurl_links: false;
  readonly unfurl_media: false;
}

/** UTF-16 code units of the blocks as JSON. Slack takes 40,000 in all. */
const MAX_BLOCKS = 12_000;
const EMOJI: Readonly<Record<Severity, string>> = {
  page: 'red_circle',
  warning: 'large_orange_circle',
  info: 'large_blue_circle',
};

/** Writes a message for Slack. */
export function writeSlackMessage(message: Notification): SlackContent {
  return renderWithin(message, MAX_BLOCKS, render, ({ blocks }) => JSON.stringify(blocks).length);
}

function render(message: Notification): SlackContent {
  const layout = layOut(message);
  const lines = [headingOf(layout), ...layout.items.flatMap(itemElements), ...layout.remarks.map(textLine)];
  const sections = lines.map((elements) => ({ type: 'rich_text_section' as const, elements }));
  return {
    text: escapeMrkdwn(layout.heading),
    blocks: [{ type: 'rich_text', elements: sections }],
    unfurl_links: false,
    unfurl_media: false,
  };
}

function headingOf({ heading, severity, isResolved }: Layout): SlackElement[] {
  const emoji = isResolved ? 'white_check_mark' : EMOJI[severity];
  return [
    { type: 'emoji', name: emoji },
    { type: 'text', text: ' ' },
    { type: 'text', text: heading, style: { bold: true } },
  ];
}

function itemElements({ heading, time, details, url }: ItemLines): SlackElement[][] {
  const link: SlackElement[] =
    url === null
      ? []
      : [
          { type: 'text', text: ' ' },
          { type: 'link', url, text: 'Open' },
        ];
  return [[...textLine(`• ${heading} (${time})`), ...link], ...details.map((line) => textLine(`    ${line}`))];
}

function textLine(text: string): SlackElement[] {
  return [{ type: 'text', text }];
}

/** Text whose sequences of Slack's markup are shown as they are. Formatting is off in the message that contains it. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
