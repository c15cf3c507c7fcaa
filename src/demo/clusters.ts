import type { ClusterEvents } from '../clusters/run/events.ts';
import type { Daemon } from '../daemon.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { printable } from '../plan/render/words.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import { toMarkdown } from '../platform/rich-text/document.ts';
import type { DemoContext } from './context.ts';
import { fitting } from './tickets.ts';

/** Who takes part in it. */
export interface ClusterParts {
  readonly emulator: Emulator;
  readonly daemon: Daemon;
  readonly reader: Reader;
}

/** Tells of change requests as they are opened. */
export class ClusterReporter {
  readonly #demo: DemoContext;

  constructor(demo: DemoContext) {
    this.#demo = demo;
  }

  /** What the daemon is to tell. */
  readonly events: ClusterEvents = {
    onOpened: ({ label, why }) => {
      const { say, paint } = this.#demo;
      say(`\n  ${paint.create('✓')} ${printable(label)}\n      ${printable(why)}\n`);
    },
    onTrouble: ({ message }) => {
      const { say, paint } = this.#demo;
      say(`  ${paint.remove('✗')} ${printable(message)}\n`);
    },
  };
}

/** Clusters of the example files that are worse than low. */
const EXPECTED = 2;
/** Columns before a line of a description. */
const INDENT = 6;

/** What the spaces say before: something to find, in the one that people would look in. */
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

/**
 * The chapter of issue clusters: a look at them opens a change request for each that hurts enough, once. False as soon as
 * something did not happen.
 */
export async function openChangeRequests(parts: ClusterParts, demo: DemoContext): Promise<boolean> {
  const { reader, daemon } = parts;
  const { say, paint } = demo;
  const spaces = await spaceTitles(reader);
  writePages(parts, spaces);
  say(paint.faint(`   (somebody wrote ${PAGES.map(({ title, space }) => `"${title}" in ${space}`).join(', ')})\n`));
  // Twice: what has a change request gets no second one.
  if (!(await daemon.lookAtClusters()) || !(await daemon.lookAtClusters())) {
    return false;
  }
  const requests = await changeRequests(reader);
  if (requests.length !== EXPECTED || requests.some(({ status }) => status !== 'open')) {
    return false;
  }
  say(`\n  ${paint.create('✓')} Another look opened nothing more; what is on the platform now:\n\n`);
  for (const { subject, space } of requests) {
    say(`  open  ${(spaces.get(space) ?? space).padEnd(14)}  ${printable(subject ?? '')}\n`);
  }
  // The newest stands first, and the one that hurts most was made first.
  say(`\n  What a writer reads in the last of them:\n\n${excerpt(requests.at(-1)?.description, demo)}`);
  return true;
}

function writePages({ emulator }: ClusterParts, spaces: ReadonlyMap<string, string>): void {
  for (const [id, space] of spaces) {
    const pages = PAGES.filter((page) => page.space === space);
    emulator.writePages(
      id,
      pages.map(({ title, body }) => ({ title, body })),
    );
  }
}

async function spaceTitles(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  for await (const { id, title } of reader.pages(operations.listSpaces)) {
    titles.set(id, title ?? '');
  }
  return titles;
}

async function changeRequests(reader: Reader) {
  const requests = [];
  for await (const request of reader.pages(operations.listOrganizationChangeRequests)) {
    requests.push(request);
  }
  return requests;
}

/** The description as Markdown, with its links as their words: addresses are longer than a terminal is wide. */
function excerpt(description: unknown, { paint, columns }: DemoContext): string {
  return toMarkdown(description)
    .replaceAll(/\n<https?:[^>]*>\n/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trimEnd()
    .split('\n')
    .map((line) => `${line === '' ? '' : `      ${paint.faint(fitting(printable(line), columns - INDENT))}`}\n`)
    .join('');
}
