/** The demonstration: its steps, and the output of the daemon. */

import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, parseDocument } from 'yaml';
import type { ClusterEvents } from '../clusters/events.ts';
import type { ConversationEvents } from '../conversations/model/source.ts';
import type { Clock } from '../core/clock.ts';
import { makeDirectory } from '../core/files/disk.ts';
import type { Daemon } from '../daemon.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { repositoryIn } from '../git/repository.ts';
import { openGit } from '../git/run.ts';
import { renderPlanText } from '../plan/render/text.ts';
import { type Approval, type Paint, textWidth } from '../plan/render/text-layout.ts';
import { counted, printable } from '../plan/render/words.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { Item } from '../platform/operations/model/operation.ts';
import { toMarkdown } from '../platform/rich-text/to-markdown.ts';
import type { PassEnd, PassEvents } from '../reconcile/pass.ts';

/** Prints the passes of the daemon and waits for them. */
export function reportPasses(demo: DemoContext, approval: Approval) {
  const { say, paint, columns } = demo;
  const waiter = new EventWaiter<PassEnd>(demo);
  let printed = '';
  let lastError = '';
  const events: PassEvents = {
    onPlan: ({ plan }, drift) => {
      // A repeated pass with the same plan is not printed again.
      if (plan.changes.length === 0 || plan.checksum === printed) {
        return;
      }
      printed = plan.checksum;
      if (drift.length > 0) {
        const what = counted(drift.length, 'change');
        say(paint.warn(`\nThe platform was changed outside of the repository (${what}):\n`));
      }
      const text = renderPlanText(plan, { columns, paint, approval, hasSentence: true });
      say(`\n${text.replaceAll(/^(?=.)/gm, '  ').trimEnd()}\n`);
    },
    onSource: () => {
      lastError = '';
    },
    onBadSource: ({ message }) => {
      // The source is read repeatedly; the same error is printed once.
      if (message !== lastError) {
        lastError = message;
        const lines = message.split('\n').map((line) => `  ${printable(line)}`);
        say(paint.remove(`\nThe manifests are invalid; the daemon keeps the last valid ones:\n${lines.join('\n')}\n`));
      }
    },
    onPassEnd: (end) => {
      const { results, requests, milliseconds } = end;
      const applied = results.filter(({ status }) => status === 'applied').length;
      if (applied > 0) {
        const took = `${counted(requests.reads + requests.writes, 'request')}, ${(milliseconds / 1000).toFixed(1)} s`;
        say(`\n  ${paint.create('✓')} ${counted(applied, 'change')} applied (${took})\n`);
      }
      for (const { address, error } of results.filter(({ status }) => status === 'failed')) {
        say(`  ${paint.remove('✗')} ${address}: ${printable(error ?? '')}\n`);
      }
      waiter.emit(end);
    },
  };
  return { events, until: (isDone: (end: PassEnd) => boolean) => waiter.until(isDone) };
}

/** Parts of the demonstration. */
export interface DemoParts extends TicketParts, ClusterParts {
  readonly repository: AcmeRepository;
  readonly passes: ReturnType<typeof reportPasses>;
  /** Another user, who changes the platform directly. */
  readonly otherUser: Writer;
}

/** Returns true for a pass that found the platform as declared. */
function isSettled({ outcome, plan, results }: PassEnd): boolean {
  return outcome === 'done' && (plan?.changes.length ?? 1) === 0 && results.length === 0;
}

/** Runs the steps. Returns false as soon as one fails. */
export async function runStory(parts: DemoParts, demo: DemoContext): Promise<boolean> {
  const { say, paint } = demo;
  const chapter = (number: number, title: string) => say(`\n${paint.strong(`${number}. ${title}`)}\n`);
  const steps: readonly (readonly [string, () => Promise<boolean | 'reported'>])[] = [
    ['A commit declares the organization, and the daemon applies it', () => follow(parts)],
    ['A commit renames a team, moves a section and adds a translation', () => change(parts, demo)],
    ['Someone renames the team on the platform, and the daemon reverts it', () => drift(parts, demo)],
    ['A mailbox and a helpdesk export are ingested and grouped into issue clusters', () => ingestTickets(parts, demo)],
    ['The clusters with the highest impact become change requests', () => openChangeRequests(parts, demo)],
  ];
  for (const [index, [title, play]] of steps.entries()) {
    chapter(index + 1, title);
    const outcome = await play();
    if (outcome === false) {
      say(paint.remove(demo.signal.aborted ? '\nStopped.\n' : '\nThis step did not complete within 30 s.\n'));
    }
    if (outcome !== true) {
      return false;
    }
  }
  return true;
}

async function follow({ daemon, passes, reader }: DemoParts): Promise<boolean> {
  const settled = passes.until(isSettled);
  await daemon.start();
  return (await settled) && (await teamTitles(reader)).includes('Writers');
}

async function change({ repository, passes, reader }: DemoParts, { say, paint }: DemoContext): Promise<boolean> {
  await repository.renameTeam();
  await repository.moveSection();
  await repository.addTranslation();
  const commit = await repository.commit('Rename writers, move the changelog, add German');
  say(paint.faint(`   $ git commit -am "Rename writers, move the changelog, add German"   (${commit.slice(0, 7)})\n`));
  const done = await passes.until((end) => isSettled(end) && end.plan?.commit === commit);
  const translations = await Array.fromAsync(reader.pages(operations.listTranslations));
  const isTranslated = translations.some(({ language }) => language === 'de');
  return done && (await teamTitles(reader)).includes('Docs writers') && isTranslated;
}

async function drift({ passes, reader, otherUser }: DemoParts, { say, paint }: DemoContext): Promise<boolean> {
  const teams = await Array.fromAsync(reader.pages(operations.listTeams));
  const teamId = teams.find(({ title }) => title === 'Docs writers')?.id ?? '';
  const undone = passes.until((end) =>
    end.results.some(({ address, status }) => address === 'team/writers' && status === 'applied'),
  );
  await otherUser.send(operations.updateTeam, { path: { teamId }, body: { title: 'Renamed manually' } });
  say(paint.faint('   (someone renames "Docs writers" to "Renamed manually" on the platform)\n'));
  return (await undone) && (await teamTitles(reader)).includes('Docs writers');
}

/** Commits a deletion, and waits until only its approval is left to do. */
export async function holdDeletion({ repository, passes }: DemoParts, { say, paint }: DemoContext): Promise<void> {
  say(`\n${paint.strong('6. A commit deletes a space, and the daemon waits for approval')}\n`);
  await repository.removePlayground();
  const commit = await repository.commit('Remove the playground');
  say(paint.faint(`   $ git commit -am "Remove the playground"   (${commit.slice(0, 7)})\n`));
  await passes.until(
    ({ outcome, plan }) =>
      outcome === 'held' && plan?.commit === commit && plan.changes.every(({ held }) => held !== null),
  );
}

function teamTitles(reader: Reader): Promise<readonly string[]> {
  return Array.fromAsync(reader.pages(operations.listTeams), ({ title }) => title);
}

/** Output and clock of the demonstration. */
export interface DemoContext {
  readonly say: (text: string) => void;
  readonly paint: Paint;
  readonly columns: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Timeout of each step, in milliseconds. */
const STEP_LIMIT = 30_000;

/** Emits events and waits for them. */
class EventWaiter<T> {
  readonly #demo: DemoContext;
  readonly #listeners = new Set<(event: T) => void>();

  constructor(demo: DemoContext) {
    this.#demo = demo;
  }

  emit(event: T): void {
    for (const listener of this.#listeners) {
      listener(event);
    }
  }

  /** Waits for the next event that matches; false if there is none before the timeout. */
  until(isDone: (event: T) => boolean): Promise<boolean> {
    const { clock, signal } = this.#demo;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settled = new AbortController();
    const listener = (event: T) => {
      if (isDone(event)) {
        resolve(true);
      }
    };
    this.#listeners.add(listener);
    const late = clock.sleep(STEP_LIMIT, AbortSignal.any([signal, settled.signal])).catch(() => undefined);
    return Promise.race([promise, late.then(() => false)]).finally(() => {
      this.#listeners.delete(listener);
      settled.abort();
    });
  }
}

/** The example files, in the order of the demonstration. */
const TICKET_FILES = ['mailbox.mbox', 'zendesk-export.json'] as const;

/** The folder that the daemon watches, and the ticket files for it. */
type DemoDropFolder = Awaited<ReturnType<typeof makeDemoDropFolder>>;

const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/** Creates the folder for the files of `examples`. */
export async function makeDemoDropFolder(examples: URL, directory: string) {
  makeDirectory(directory);
  return {
    directory,
    /** Moves a copy of an example file into the folder. */
    async drop(file: string): Promise<void> {
      // Renaming is atomic, so the daemon never reads an incomplete file.
      const unfinished = join(directory, `.${file}.part`);
      await cp(fileURLToPath(new URL(file, examples)), unfinished, { preserveTimestamps: true });
      await rename(unfinished, join(directory, file));
    },
    /** Returns every email address in the example files, in lower case. */
    async emails(): Promise<readonly string[]> {
      const texts = await Promise.all(TICKET_FILES.map((file) => readFile(new URL(file, examples), 'utf8')));
      return [...new Set(texts.flatMap((text) => text.match(EMAIL) ?? []).map((email) => email.toLowerCase()))];
    },
  };
}

/** Prints ingestion events of the daemon and waits for them. The events have only counts and no content. */
export function reportIntake(demo: DemoContext) {
  const { say, paint } = demo;
  const waiter = new EventWaiter<void>(demo);
  /** Conversations that were queued for sending, and those of them that were sent. */
  let taken = 0;
  let sent = 0;
  let lastError = '';
  const printError = (message: string) => say(`  ${paint.remove('✗')} ${printable(message)}\n`);
  const events: ConversationEvents = {
    onIntake: ({ found, rejected, waiting, unchanged, skipped, redacted }) => {
      // Rejected tickets are reported one by one.
      if (found > rejected) {
        const known = unchanged > 0 ? `, ${unchanged} unchanged` : '';
        say(`\n  ${paint.create('✓')} ${counted(waiting, 'conversation')} taken in${known}\n`);
        for (const [name, counts] of Object.entries({ skipped, redacted })) {
          const words = byCount(counts);
          say(words === '' ? '' : `      ${name.padEnd('redacted'.length)}  ${words}\n`);
        }
        taken += waiting;
        waiter.emit();
      }
    },
    onSent: ({ items }) => {
      say(`  ${paint.create('✓')} ${counted(items, 'conversation')} sent\n`);
      sent += items;
      waiter.emit();
    },
    onRejected: ({ place, reason }) => printError(`${place}: ${reason}`),
    onRefused: ({ key, reason }) => printError(`${key} is refused: ${reason}`),
    onPollEnd: ({ error }) => {
      // The folder is polled every second; the same error is printed once.
      if (error !== null && error.message !== lastError) {
        printError(error.message);
      }
      lastError = error?.message ?? '';
    },
  };
  /** Waits until further conversations were queued and all are sent; false after the timeout. */
  const allSent = () => {
    const before = taken;
    return waiter.until(() => taken > before && sent >= taken);
  };
  return { events, allSent };
}

/** Formats counts, largest first: `email 3, card 1`. */
function byCount(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([a, most], [b, more]) => more - most || a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

/** Parts of the demonstration that this step uses. */
interface ClusterParts {
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
async function openChangeRequests(parts: ClusterParts, demo: DemoContext): Promise<boolean> {
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

const TIMEOUT = 30_000;

/** A git repository with the manifests of examples/acme, and the edits that the demonstration makes. */
type AcmeRepository = Awaited<ReturnType<typeof makeAcmeRepository>>;

/** Creates the repository from the example, with a first commit. */
export async function makeAcmeRepository(example: URL, directory: string) {
  makeDirectory(directory);
  await cp(example, directory, { recursive: true });
  const git = openGit({ repository: repositoryIn(directory), timeout: TIMEOUT });
  await git.raw(['init', '--quiet', '--initial-branch=main']);
  // Commits of the user must work without git settings.
  await git.raw(['config', 'user.name', 'Octavo demo']);
  await git.raw(['config', 'user.email', 'demo@acme.example']);
  const edit = async (file: string, change: (text: string) => string) => {
    const path = join(directory, file);
    await writeFile(path, change(await readFile(path, 'utf8')));
  };
  const repository = {
    directory,
    /** Commits the edits and returns the commit id. */
    async commit(message: string): Promise<string> {
      await git.raw(['add', '--all']);
      await git.raw(['commit', '--quiet', '-m', message]);
      return (await git.raw(['rev-parse', 'HEAD'])).trim();
    },
    renameTeam: () => edit('teams.yaml', (text) => text.replace('title: Writers', 'title: Docs writers')),
    moveSection: () => edit('sites.yaml', changelogFirst),
    addTranslation: () => edit('translations.yaml', withGerman),
    removePlayground: async () => {
      const withoutPlayground = (text: string) => text.replaceAll(/^.*playground.*\n/gm, '');
      await edit('sites.yaml', withoutPlayground);
      await edit('spaces.yaml', withoutPlayground);
    },
  };
  await repository.commit('Acme’s documentation, as code');
  return repository;
}

/** Moves the last section, `changelog`, to the front; keeps comments. */
function changelogFirst(text: string): string {
  const document = parseDocument(text);
  const structure = document.getIn(['sites', 'help', 'structure']);
  if (isSeq(structure)) {
    const at = structure.items.findIndex((item) => isMap(item) && item.get('section') === 'changelog');
    const [changelog] = structure.items.splice(at, 1);
    structure.items.unshift(changelog);
  }
  return document.toString({ lineWidth: 0 });
}

function withGerman(text: string): string {
  const document = parseDocument(text);
  const german = document.createNode({ space: 'guides', from: 'en', to: 'de', rerun: 'on-change' });
  document.setIn(['translations', 'guides-de'], german);
  return document.toString({ lineWidth: 0 });
}

/** Parts of the demonstration that this step uses. */
interface TicketParts {
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
async function ingestTickets(
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
function truncate(text: string, columns: number): string {
  if (textWidth(text) <= columns) {
    return text;
  }
  const cut = [...text];
  while (textWidth(cut.join('')) >= columns && cut.length > 0) {
    cut.pop();
  }
  return `${cut.join('').trimEnd()}…`;
}
