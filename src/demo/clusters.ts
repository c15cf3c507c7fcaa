/** The last step of the demonstration: issue clusters become change requests. */
import type { ClusterEvents } from '../clusters/events.ts';
import type { Daemon } from '../daemon.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { printable } from '../plan/render/words.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import { toMarkdown } from '../platform/rich-text/to-markdown.ts';
import type { DemoContext } from './context.ts';
import { truncate } from './tickets.ts';

/** Parts of the demonstration that this step uses. */
export interface ClusterParts {
  readonly emulator: Emulator;
  readonly daemon: Daemon;
  readonly reader: Reader;
}

/** Returns events that print change requests as they are opened. */
export function clusterEvents({ say, paint }: DemoContext): ClusterEvents {
  return {
    onOpened: ({ label, why }) => say(`\n  ${paint.create('✓')} ${printable(label)}\n      ${printable(why)}\n`),
    onTrouble: ({ message }) => say(`  ${paint.remove('✗')} ${printable(message)}\n`),
  };
}

/** Number of clusters of the example files with more than low impact. */
const EXPECTED = 2;
/** Indentation of a description, in columns. */
const INDENT = 6;

/** Existing pages, so that each change request finds related content. */
const PAGES = [
  {
    space: 'API reference',
    title: 'Exports',
    body: 'Export a space to PDF: start the export, and fetch the PDF once it is ready.',
  },
  {
    space: 'Onboarding',
    title: 'First sign-in',
    body: 'Sign in with SSO. Your SAML login is set up on the first day.',
  },
] as const;

/** Runs cluster automation and prints the change requests that it opens. Returns false if they are not as expected. */
export async function openChangeRequests(parts: ClusterParts, demo: DemoContext): Promise<boolean> {
  const { reader, daemon } = parts;
  const { say, paint } = demo;
  const listed = await Array.fromAsync(reader.pages(operations.listSpaces));
  const spaces = new Map(listed.map(({ id, title }) => [id, title ?? '']));
  writePages(parts, spaces);
  say(paint.faint(`   (someone wrote ${PAGES.map(({ title, space }) => `"${title}" in ${space}`).join(', ')})\n`));
  // The second run shows that no cluster gets a second change request.
  if (!(await daemon.runClusters()) || !(await daemon.runClusters())) {
    return false;
  }
  const requests = await Array.fromAsync(reader.pages(operations.listOrganizationChangeRequests));
  if (requests.length !== EXPECTED || requests.some(({ status }) => status !== 'open')) {
    return false;
  }
  say(`\n  ${paint.create('✓')} A second run opened no further change requests. On the platform now:\n\n`);
  for (const { subject, space } of requests) {
    say(`  open  ${(spaces.get(space) ?? space).padEnd(14)}  ${printable(subject ?? '')}\n`);
  }
  // The list is newest first, and the cluster with the highest impact was opened first.
  say(`\n  Description of the last one:\n\n${excerpt(requests.at(-1)?.description, demo)}`);
  return true;
}

function writePages({ emulator }: ClusterParts, spaces: ReadonlyMap<string, string>): void {
  for (const [id, space] of spaces) {
    const pages = PAGES.filter((page) => page.space === space).map(({ title, body }) => ({ title, body }));
    emulator.writePages(id, pages);
  }
}

/** Formats the description as Markdown, with links reduced to their text, because URLs are too long for a terminal. */
function excerpt(description: unknown, { paint, columns }: DemoContext): string {
  return toMarkdown(description)
    .replaceAll(/\n<https?:[^>]*>\n/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trimEnd()
    .split('\n')
    .map((line) => `${line === '' ? '' : `      ${paint.faint(truncate(printable(line), columns - INDENT))}`}\n`)
    .join('');
}
