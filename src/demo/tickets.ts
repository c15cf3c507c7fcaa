/** The ingestion step of the demonstration: ticket files are ingested and grouped into issue clusters. */
import { textWidth } from '../plan/render/text-layout.ts';
import { printable } from '../plan/render/words.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { Item } from '../platform/operations/model/operation.ts';
import { type DemoContext, STEP_LIMIT } from './context.ts';
import { type DemoDropFolder, TICKET_FILES } from './drop-folder.ts';
import type { reportIntake } from './intake-reporter.ts';

/** Parts of the demonstration that this step uses. */
export interface TicketParts {
  readonly dropBox: DemoDropFolder;
  readonly intake: ReturnType<typeof reportIntake>;
  readonly reader: Reader;
}

type Cluster = Item<typeof operations.listConversationClusters>;

/** Number of topics in the example files. */
const TOPICS = 3;
/** Milliseconds between two reads of the clusters. */
const POLL_INTERVAL = 150;
const IMPACTS = ['high', 'medium', 'low'];
/** Width of the columns before the label, without the indentation. */
const BEFORE_LABEL = 31;
const PLACEHOLDER = /\[([A-Z]+)_\d+\]/g;

/**
 * Drops ticket files into the folder, checks that private data was removed, and prints the issue clusters. Returns false
 * after a timeout, and `reported` for a failure that was already printed.
 */
export async function ingestTickets(
  { dropBox, intake, reader }: TicketParts,
  demo: DemoContext,
): Promise<boolean | 'reported'> {
  const { say, paint } = demo;
  for (const file of TICKET_FILES) {
    say(
      `${file === TICKET_FILES[0] ? '' : '\n'}${paint.faint(`   $ cp examples/tickets/${file} ${dropBox.directory}`)}\n`,
    );
    const sent = intake.allSent();
    await dropBox.drop(file);
    if (!(await sent)) {
      return false;
    }
  }
  if (!(await isPrivate(await conversationsOn(reader), dropBox, demo))) {
    return 'reported';
  }
  const clusters = await clustersOn(reader, demo);
  if (clusters === null) {
    return false;
  }
  say(
    `\n  The platform has extracted issues and grouped similar ones into clusters:\n\n${clusterTable(clusters, demo)}`,
  );
  return true;
}

/** The text of a conversation on the platform. */
interface Words {
  readonly bodies: readonly string[];
  /** Everything in lower case, with the subject and the metadata. */
  readonly all: string;
}

function conversationsOn(reader: Reader): Promise<readonly Words[]> {
  return Array.fromAsync(reader.pages(operations.listConversations), async ({ id }) => {
    const answer = await reader.get(operations.getConversation, { path: { conversationId: id } });
    const { conversation, parts, metadata } = answer;
    return {
      bodies: parts.map(({ body }) => body),
      all: JSON.stringify([conversation.subject, parts, metadata]).toLowerCase(),
    };
  });
}

/** Checks that no email address of the files is on the platform, and prints a redacted line. */
async function isPrivate(
  conversations: readonly Words[],
  dropBox: DemoDropFolder,
  demo: DemoContext,
): Promise<boolean> {
  const { say, paint } = demo;
  const emails = await dropBox.emails();
  const seen = emails.filter((email) => conversations.some(({ all }) => all.includes(email)));
  if (seen.length > 0) {
    say(`\n  ${paint.remove('✗')} ${seen[0]} is on the platform, and ${seen.length - 1} more\n`);
    return false;
  }
  say(`\n  ${paint.create('✓')} No email address of the files is on the platform; a line as it was sent:\n\n`);
  say(`      ${printable(lineToShow(conversations)).replaceAll(PLACEHOLDER, (hole) => paint.change(hole))}\n`);
  return true;
}

/** Returns the line with the most kinds of redacted data. */
function lineToShow(conversations: readonly Words[]): string {
  const kinds = (line: string) => new Set([...line.matchAll(PLACEHOLDER)].map(([, kind]) => kind)).size;
  const lines = conversations.flatMap(({ bodies }) => bodies).flatMap((body) => body.split('\n'));
  return lines.reduce((best, line) => (kinds(line) > kinds(best) ? line : best), '');
}

/** Waits until every conversation is processed. Returns the clusters by impact, or null after the timeout. */
async function clustersOn(reader: Reader, { clock, signal }: DemoContext): Promise<readonly Cluster[] | null> {
  for (const until = clock.monotonic() + STEP_LIMIT; clock.monotonic() < until && !signal.aborted; ) {
    const conversations = await Array.fromAsync(reader.pages(operations.listConversations));
    const { items } = await reader.get(operations.listConversationClusters);
    if (conversations.every(({ processedAt }) => typeof processedAt === 'string') && items.length >= TOPICS) {
      const rank = ({ impact }: Cluster) => IMPACTS.indexOf(impact ?? '');
      return items.toSorted((a, b) => rank(a) - rank(b));
    }
    await clock.sleep(POLL_INTERVAL, signal).catch(() => {});
  }
  return null;
}

function clusterTable(clusters: readonly Cluster[], { paint, columns }: DemoContext): string {
  const colour = { high: paint.remove, medium: paint.change, low: paint.faint };
  const rows = clusters.map(({ impact, stats, label }) => {
    const shade = colour[impact as keyof typeof colour] ?? paint.faint;
    const numbers = `${String(stats?.issues ?? '').padStart(6)}  ${String(stats?.conversations ?? '').padStart(13)}`;
    return `  ${shade((impact ?? '').padEnd(6))}  ${numbers}  ${truncate(printable(label ?? ''), columns - BEFORE_LABEL)}\n`;
  });
  return [`  ${paint.strong('impact  issues  conversations  cluster')}\n`, ...rows].join('');
}

/** Shortens a text to a number of columns. */
export function truncate(text: string, columns: number): string {
  if (textWidth(text) <= columns) {
    return text;
  }
  const cut = [...text];
  while (textWidth(cut.join('')) >= columns && cut.length > 0) {
    cut.pop();
  }
  return `${cut.join('').trimEnd()}…`;
}
