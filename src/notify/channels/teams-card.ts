/** Adaptive Cards for Microsoft Teams. Text runs show their text as it is; text blocks would read Markdown. */
import type { Severity } from '../../core/condition-codes.ts';
import type { Notification } from '../model/notification.ts';
import { type ItemLines, type Layout, layOut } from './layout.ts';
import { renderWithin } from './render-within.ts';

type RunStyle = Readonly<Record<string, string | boolean>>;
interface TextRun {
  readonly type: 'TextRun';
  readonly text: string;
  readonly [style: string]: unknown;
}

/** Largest message in bytes. Teams takes 28 kB, and counts the envelope. */
const MAX_BYTES = 26_000;
const COLORS: Readonly<Record<Severity, string>> = { page: 'attention', warning: 'warning', info: 'accent' };

/** Writes the request of a workflow that posts cards, as JSON. */
export function writeTeamsMessage(message: Notification): string {
  return renderWithin(
    message,
    MAX_BYTES,
    (each) => JSON.stringify(envelope(layOut(each))),
    (body) => Buffer.byteLength(body),
  );
}

function envelope(layout: Layout) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      paragraph(
        runs(layout.heading, {
          weight: 'bolder',
          size: 'medium',
          color: layout.isResolved ? 'good' : COLORS[layout.severity],
        }),
      ),
      ...layout.items.flatMap(itemParagraphs),
      ...layout.remarks.map((text) => paragraph(runs(text, { isSubtle: true }))),
    ],
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}

function itemParagraphs({ heading, time, details, url }: ItemLines) {
  const link = url === null ? [] : runs('Open', { underline: true, selectAction: { type: 'Action.OpenUrl', url } });
  const space = url === null ? [] : runs(' ');
  return [
    {
      ...paragraph([...runs(heading), ...runs(` (${time})`, { isSubtle: true }), ...space, ...link]),
      spacing: 'medium',
    },
    ...details.map((line) => ({ ...paragraph(runs(line, { isSubtle: true })), spacing: 'none' })),
  ];
}

function paragraph(inlines: readonly TextRun[]) {
  return { type: 'RichTextBlock', inlines };
}

/** Text as runs. Cards replace `{{DATE(…)}}` within a run, so that its braces are in different ones. */
function runs(text: string, style: RunStyle | { selectAction?: object } = {}): TextRun[] {
  return text.split(/(?<=\{)(?=\{)/).map((part) => ({ type: 'TextRun', text: part, ...style }));
}
