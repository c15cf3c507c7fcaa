/** Sends a request of `octavo api`, and writes the answer as the flags ask for it. */
import { AppError, TransientError } from '../../core/errors.ts';
import { durationWords, printableLines } from '../../plan/render/words.ts';
import type { HttpAnswer } from '../../platform/http/transport.ts';
import type { CommandContext, PlatformSession } from '../cli/setup.ts';
import type { ApiFlags } from './flags.ts';
import type { Selection } from './jq.ts';
import type { AnswerWriter } from './output.ts';
import type { Prepared } from './prepare.ts';
import { type ListPage, type Payload, send, sendPages, sendStreamed, type Watch } from './send.ts';

/** A request and how its answer is wanted. */
export interface Wanted {
  readonly request: Prepared;
  readonly flags: Pick<ApiFlags, 'include' | 'paginate' | 'silent' | 'slurp'>;
  readonly selection: Selection | null;
  readonly context: CommandContext;
}

interface Work extends Wanted {
  readonly writer: AnswerWriter;
}

/** The platform answered with something that the flags do not fit. */
class UnfitAnswerError extends AppError {
  readonly code = 'unfit-answer';
  readonly disposition = 'stall';
}

/** Sends the request and writes the answer. Throws AppError; for a write whose answer is lost, a line says so first. */
export async function sendAndShow(work: Work, session: PlatformSession): Promise<void> {
  const { request, context } = work;
  const progress = new Progress(context);
  try {
    await showWhatComes(work, session, progress);
  } catch (error) {
    const isLost = error instanceof TransientError ? error.maybeDone : progress.isUnderWay;
    if (request.repeat === 'never' && isLost) {
      context.terminal.err(`${request.name} may have taken effect; check before you send it again\n`);
    }
    throw error;
  }
}

/** What is known of a request while it is sent. */
class Progress implements Watch {
  readonly refused: HttpAnswer[] = [];
  isUnderWay = false;
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  onSend(): void {
    this.isUnderWay = true;
  }

  onAnswer(): void {
    this.isUnderWay = false;
  }

  onRefused(answer: HttpAnswer): void {
    this.refused.push(answer);
  }

  onLimited(after: number | null): void {
    const time = after === null ? '' : ` ${durationWords(after / 1000)}`;
    this.#context.terminal.err(`Rate limit reached; waiting${time}\n`);
  }
}

async function showWhatComes(work: Work, session: PlatformSession, progress: Progress): Promise<void> {
  const { request, flags } = work;
  if (flags.paginate === true) {
    return flags.slurp === true ? showAll(work, session, progress) : showPages(work, session, progress);
  }
  try {
    await (request.operation?.streamed === true
      ? showStream(work, session, progress)
      : showAnswer(work, session, progress));
  } catch (error) {
    for (const answer of progress.refused) {
      // Whether it is read or not: the call has failed.
      await showRefused(answer, work).catch(() => undefined);
    }
    throw error;
  }
}

async function showAnswer(work: Work, session: PlatformSession, progress: Progress): Promise<void> {
  const { request, flags, writer, context } = work;
  const { answer, payload } = await send(request, session, progress);
  if (flags.include === true) {
    await writer.head(answer);
  }
  if (flags.silent === true) {
    return;
  }
  if (payload.kind === 'empty') {
    context.terminal.err(`${doneWords(request, answer.status)}\n`);
  } else {
    await showPayload(work, payload, String(answer.headers['content-type'] ?? ''));
  }
}

async function showPayload(
  work: Work,
  payload: Exclude<Payload, { kind: 'empty' }>,
  contentType: string,
): Promise<void> {
  const { request, selection, writer } = work;
  if (payload.kind === 'json') {
    return selection === null
      ? writer.json(payload.json)
      : writer.selected(await selected(work, selection, [payload.json]), true);
  }
  if (selection !== null) {
    throw new UnfitAnswerError(`${request.name} does not return JSON; leave out --jq`);
  }
  if (!(await writer.bytes(payload.bytes, contentType))) {
    throw new UnfitAnswerError(`${request.name} returns binary data; redirect it to a file with > FILE`);
  }
}

/** The status of a deletion says whether there was anything to delete. */
function doneWords({ name, method }: Prepared, status: number): string {
  return method === 'DELETE' && status === 204 ? `${name}: nothing to delete (204)` : `${name}: done (${status})`;
}

/** The body of an error is the answer too, where it is JSON; a selection is not made for it. */
async function showRefused(answer: HttpAnswer, { flags, selection, writer }: Work): Promise<void> {
  if (flags.include === true) {
    await writer.head(answer);
  }
  const isWanted = selection === null && flags.silent !== true && typeof answer.body === 'string';
  const json = isWanted ? parsed(String(answer.body)) : undefined;
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

async function showPages(work: Work, session: PlatformSession, progress: Progress): Promise<void> {
  const { request, context } = work;
  let items = 0;
  let next: ListPage['next'] = null;
  try {
    for await (const page of sendPages(request, session, progress)) {
      await showItems(work, page.items);
      items += page.items.length;
      next = page.next;
    }
  } catch (error) {
    // Nobody reads on where the reader left.
    if (next !== null && context.terminal.readerLeft?.aborted !== true) {
      context.terminal.err(`Stopped after ${items} items; continue with -f page=${next}\n`);
    }
    throw error;
  }
}

/** The items of all pages as one list, once all of them are there. */
async function showAll(work: Work, session: PlatformSession, progress: Progress): Promise<void> {
  const items: unknown[] = [];
  for await (const page of sendPages(work.request, session, progress)) {
    for (const item of page.items) {
      items.push(item);
    }
  }
  if (work.flags.silent !== true) {
    await showPayload(work, { kind: 'json', json: items }, 'application/json');
  }
}

async function showStream(work: Work, session: PlatformSession, progress: Progress): Promise<void> {
  const stream = await sendStreamed(work.request, session, progress);
  if (work.flags.include === true) {
    await work.writer.head(stream.head);
  }
  for await (const event of stream.events) {
    await showItems(work, [event]);
  }
}

async function showItems(work: Work, items: readonly unknown[]): Promise<void> {
  const { selection, flags, writer } = work;
  if (flags.silent === true) {
    return;
  }
  await (selection === null ? writer.lines(items) : writer.selected(await selected(work, selection, items), false));
}

async function selected(
  { context }: Work,
  selection: Selection,
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  if (values.length === 0) {
    return values;
  }
  const result = await selection.select(values);
  if (result.said !== '') {
    context.terminal.err(`${printableLines(result.said)}\n`);
  }
  return result.values;
}
