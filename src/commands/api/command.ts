import { resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import { ConfigError, EXIT, type ExitCode, messageOf, TransientError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { LARGEST_FILE, readRegularFile } from '../../core/regular-file.ts';
import { maskUrls, maskUrlsIn } from '../../core/safe-url.ts';
import { durationWords, printableLines } from '../../plan/words.ts';
import { operations } from '../../platform/operations/index.ts';
import type { Operation } from '../../platform/operations/operation.ts';
import type { HttpAnswer } from '../../platform/transport.ts';
import { asked, chooseOrganization, readConfig, type Surroundings, type Way, withPlatform } from '../setup.ts';
import type { Terminal } from '../terminal.ts';
import { paintFor } from '../terminal.ts';
import type { TypedField } from './fields.ts';
import { openSelection, type Selection } from './jq.ts';
import { listOperations } from './list.ts';
import { AnswerWriter, colouredJson } from './output.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type ListPage, send, sendPages, sendStreamed, type Watch } from './send.ts';

export interface ApiFlags {
  readonly method?: string;
  readonly data?: string;
  readonly paginate?: boolean;
  readonly jq?: string;
  readonly include?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly raw?: boolean;
  /** A filter, or true without one. */
  readonly list?: string | true;
  readonly format: 'text' | 'json';
  readonly config?: string;
  readonly organization?: string;
}

/** `octavo api`. `fields` are those of `-f` and `-F`, in the order in which they were typed. */
export async function apiCommand(
  words: readonly string[],
  fields: readonly TypedField[],
  flags: ApiFlags,
  around: Surroundings,
): Promise<ExitCode> {
  const table: readonly Operation[] = Object.values(operations);
  if (flags.list !== undefined) {
    const filter = [...(flags.list === true ? [] : [flags.list]), ...words].flatMap((word) => word.split(/\s+/));
    listOperations(table, filter, flags.format, around);
    return EXIT.done;
  }
  const config = await readConfig(flags.config, around);
  const organization = chooseOrganization(config, flags.organization);
  const { baseUrl } = config.platform;
  const request = await prepare(
    { words, method: flags.method, fields, data: flags.data, isRaw: flags.raw === true },
    { table, organization: organization.id, baseUrl, read: (name) => readNamed(name, around.terminal) },
  );
  mustGoTogether(request, flags);
  const selection = flags.jq === undefined ? null : await openSelection(flags.jq, around.signal);
  try {
    return await carryOut({ request, flags, selection, around }, config, organization);
  } finally {
    await selection?.close();
  }
}

interface Asked {
  readonly request: Prepared;
  readonly flags: ApiFlags;
  readonly selection: Selection | null;
  readonly around: Surroundings;
}

/** Shows the request, asks, and sends it: as much of that as is wanted. */
async function carryOut(wish: Asked, config: Config, organization: OrganizationConfig): Promise<ExitCode> {
  const { request, flags, around } = wish;
  for (const note of request.notes) {
    around.terminal.err(`${printableLines(note)}\n`);
  }
  const url = `${config.platform.baseUrl.replace(/\/+$/, '')}${request.path}`;
  if (flags.dryRun === true) {
    showRequest(request, url, flags, around);
    return EXIT.done;
  }
  if (!(await isWanted(request, url, flags, around))) {
    around.terminal.err('\nNot sent.\n');
    return EXIT.failed;
  }
  const writer = new AnswerWriter(around, organization.token);
  await withPlatform(config, organization, around, (way) => sendAndShow({ ...wish, writer }, way));
  return EXIT.done;
}

async function readNamed(name: string, { cwd, input }: Terminal): Promise<string> {
  if (name === '-') {
    if (input === undefined) {
      throw new ConfigError('nothing can be read from standard input here');
    }
    return input();
  }
  try {
    return readRegularFile(resolve(cwd, name), { limit: LARGEST_FILE }).toString('utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError(`cannot read ${name}: ${isMissing ? 'there is no such file' : messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Throws ConfigError where flags contradict the request, or each other. */
function mustGoTogether({ name, method, operation }: Prepared, { paginate, include }: ApiFlags): void {
  if (paginate === true && (method !== 'GET' || operation?.paginated === false)) {
    throw new ConfigError(`${name} is no list of pages: leave out --paginate`);
  }
  if (include === true && (paginate === true || operation?.streamed === true)) {
    throw new ConfigError('-i shows the headers of a single answer: leave it out here');
  }
}

/** What would be sent, for `--dry-run`. The token is no part of it. */
function showRequest(request: Prepared, url: string, { format }: ApiFlags, { terminal }: Surroundings): void {
  const { method, body } = request;
  const json: unknown = maskUrlsIn(body === null ? null : JSON.parse(body));
  if (format === 'json') {
    terminal.out(`${shownJson({ format: 'octavo.request/1', method, url: maskUrls(url), body: json })}\n`);
    return;
  }
  terminal.out(requestText(request, url, paintFor(terminal.isOutTerminal, terminal.env)));
  terminal.err('Not sent (dry run).\n');
}

function requestText({ method, body }: Prepared, url: string, paint: ReturnType<typeof paintFor>): string {
  const text = body === null ? '' : `${colouredJson(shownJson(maskUrlsIn(JSON.parse(body))), paint)}\n`;
  return `${paint.strong(method)} ${maskUrls(url)}\n${text}`;
}

/** Whether a person wants it: said beforehand, or now. Throws ConfigError where nobody can be asked. */
async function isWanted(
  request: Prepared,
  url: string,
  flags: ApiFlags,
  { terminal, signal }: Surroundings,
): Promise<boolean> {
  if (request.repeat === 'safe' || flags.yes === true) {
    return true;
  }
  if (terminal.ask === null) {
    throw new ConfigError(`nobody can be asked here whether to send ${request.name}; say so with --yes`);
  }
  terminal.err(requestText(request, url, paintFor(terminal.isErrTerminal, terminal.env)));
  const answer = terminal.ask('\nSend it? Only "yes" is a yes: ');
  const said = await Promise.race([answer, asked(signal).then(() => '')]);
  return said.trim().toLowerCase() === 'yes';
}

interface Work extends Asked {
  readonly writer: AnswerWriter;
}

async function sendAndShow(work: Work, way: Way): Promise<void> {
  const { request, around } = work;
  try {
    await showWhatComes(work, way);
  } catch (error) {
    if (request.repeat === 'never' && error instanceof TransientError && error.maybeDone) {
      around.terminal.err(`${request.name} may have been done all the same: look before it is sent again\n`);
    }
    throw error;
  }
}

function showWhatComes(work: Work, way: Way): Promise<void> {
  const { request, flags } = work;
  if (request.operation?.streamed === true) {
    return showStream(work, way);
  }
  return flags.paginate === true ? showPages(work, way) : showAnswer(work, way);
}

async function showAnswer(work: Work, way: Way): Promise<void> {
  const { request, flags, writer, around } = work;
  const refused: HttpAnswer[] = [];
  try {
    const { answer, json } = await send(request, way, { ...watchOf(around), onRefused: (last) => refused.push(last) });
    if (flags.include === true) {
      await writer.head(answer);
    }
    if (json === undefined) {
      around.terminal.err(`${doneWords(request, answer.status)}\n`);
    } else if (work.selection === null) {
      await writer.json(json);
    } else {
      await writer.selected(await selected(work, [json]), true);
    }
  } catch (error) {
    for (const answer of refused) {
      await showRefused(answer, work);
    }
    throw error;
  }
}

function watchOf({ terminal }: Surroundings): Watch {
  return {
    onRefused: () => undefined,
    onLimited: (after) => {
      const time = after === null ? '' : `, ${durationWords(after / 1000)}`;
      terminal.err(`The rate limit is used up: waiting${time}\n`);
    },
  };
}

/** A deletion tells by its status whether there was anything to delete (supplement, section 2). */
function doneWords({ name, method }: Prepared, status: number): string {
  return method === 'DELETE' && status === 204 ? `${name}: it was not there (204)` : `${name}: done (${status})`;
}

/** The body of an error is the answer too, where it is JSON; a selection is not made for it. */
async function showRefused(answer: HttpAnswer, { flags, selection, writer }: Work): Promise<void> {
  if (flags.include === true) {
    await writer.head(answer);
  }
  const json = selection === null && typeof answer.body === 'string' ? parsed(answer.body) : undefined;
  if (json !== undefined) {
    await writer.json(json);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function showPages(work: Work, way: Way): Promise<void> {
  const { request, around } = work;
  let items = 0;
  let next: ListPage['next'] = null;
  try {
    for await (const page of sendPages(request, way, watchOf(around))) {
      await showItems(work, page.items);
      items += page.items.length;
      next = page.next;
    }
  } catch (error) {
    if (next !== null) {
      around.terminal.err(`Ended after ${items} items; what follows is asked for with -f page=${next}\n`);
    }
    throw error;
  }
}

async function showStream(work: Work, way: Way): Promise<void> {
  for await (const event of sendStreamed(work.request, way, watchOf(work.around))) {
    await showItems(work, [event]);
  }
}

async function showItems(work: Work, items: readonly unknown[]): Promise<void> {
  if (work.selection === null) {
    await work.writer.lines(items);
  } else {
    await work.writer.selected(await selected(work, items), false);
  }
}

async function selected({ selection, around }: Work, values: readonly unknown[]): Promise<readonly unknown[]> {
  if (selection === null || values.length === 0) {
    return values;
  }
  const result = await selection.select(values);
  if (result.said !== '') {
    around.terminal.err(`${printableLines(result.said)}\n`);
  }
  return result.values;
}
