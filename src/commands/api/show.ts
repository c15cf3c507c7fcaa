/** Sends a request of `octavo api` and prints the response as the flags specify. */
import { AppError, TransientError } from '../../core/errors.ts';
import { durationWords, printableLines } from '../../plan/render/words.ts';
import type { HttpAnswer } from '../../platform/http/whole-response.ts';
import type { CommandContext } from '../cli/context.ts';
import type { PlatformSession } from '../cli/session.ts';
import type { ApiFlags } from './flags.ts';
import type { JqFilter } from './jq.ts';
import type { ResponseWriter } from './output.ts';
import type { PreparedRequest } from './prepare.ts';
import { type Payload, type RequestListener, type ResultPage, send, sendPages, sendStreamed } from './send.ts';

/** A request and the flags for its output. */
export interface ShowOptions {
  readonly request: PreparedRequest;
  readonly flags: Pick<ApiFlags, 'include' | 'paginate' | 'silent' | 'slurp'>;
  readonly jqFilter: JqFilter | null;
  readonly context: CommandContext;
}

interface ShowInput extends ShowOptions {
  readonly writer: ResponseWriter;
}

/** The flags cannot be applied to the response. */
class UnfitAnswerError extends AppError {
  readonly code = 'unfit-answer';
  readonly disposition = 'stall';
}

/** Sends the request and prints the response; warns when a write may have taken effect. Throws AppError. */
export async function sendAndShow(input: ShowInput, session: PlatformSession): Promise<void> {
  const { request, context } = input;
  const progress = new RequestProgress(context);
  try {
    await showResponse(input, session, progress);
  } catch (error) {
    const isLost = error instanceof TransientError ? error.maybeDone : progress.isInFlight;
    if (request.repeat === 'never' && isLost) {
      context.terminal.err(`${request.name} may have taken effect; check before you send it again\n`);
    }
    throw error;
  }
}

/** Collects the progress of a request while it is sent. */
class RequestProgress implements RequestListener {
  readonly refused: HttpAnswer[] = [];
  isInFlight = false;
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  onSend(): void {
    this.isInFlight = true;
  }

  onAnswer(): void {
    this.isInFlight = false;
  }

  onRefused(answer: HttpAnswer): void {
    this.refused.push(answer);
  }

  onLimited(after: number | null): void {
    const time = after === null ? '' : ` ${durationWords(after / 1000)}`;
    this.#context.terminal.err(`Rate limit reached; waiting${time}\n`);
  }
}

async function showResponse(input: ShowInput, session: PlatformSession, progress: RequestProgress): Promise<void> {
  const { request, flags } = input;
  if (flags.paginate === true) {
    return flags.slurp === true ? showAll(input, session, progress) : showPages(input, session, progress);
  }
  try {
    await (request.operation?.streamed === true
      ? showStream(input, session, progress)
      : showAnswer(input, session, progress));
  } catch (error) {
    for (const answer of progress.refused) {
      // A failure to print the response must not replace the error of the call.
      await showRefused(answer, input).catch(() => undefined);
    }
    throw error;
  }
}

async function showAnswer(input: ShowInput, session: PlatformSession, progress: RequestProgress): Promise<void> {
  const { request, flags, writer, context } = input;
  const { answer, payload } = await send(request, session, progress);
  if (flags.include === true) {
    await writer.head(answer);
  }
  if (flags.silent === true) {
    return;
  }
  if (payload.kind === 'empty') {
    context.terminal.err(`${doneText(request, answer.status)}\n`);
  } else {
    await showPayload(input, payload, String(answer.headers['content-type'] ?? ''));
  }
}

async function showPayload(
  input: ShowInput,
  payload: Exclude<Payload, { kind: 'empty' }>,
  contentType: string,
): Promise<void> {
  const { request, jqFilter, writer } = input;
  if (payload.kind === 'json') {
    return jqFilter === null
      ? writer.json(payload.json)
      : writer.filtered(await applyFilter(input, jqFilter, [payload.json]), true);
  }
  if (jqFilter !== null) {
    throw new UnfitAnswerError(`${request.name} does not return JSON; leave out --jq`);
  }
  if (!(await writer.bytes(payload.bytes, contentType))) {
    throw new UnfitAnswerError(`${request.name} returns binary data; redirect it to a file with > FILE`);
  }
}

/** Confirms a request without a response body; the status of a deletion shows whether there was anything to delete. */
function doneText({ name, method }: PreparedRequest, status: number): string {
  return method === 'DELETE' && status === 204 ? `${name}: nothing to delete (204)` : `${name}: done (${status})`;
}

/** Prints an error response if it is JSON, and never filters it. */
async function showRefused(answer: HttpAnswer, { flags, jqFilter, writer }: ShowInput): Promise<void> {
  if (flags.include === true) {
    await writer.head(answer);
  }
  const isPrinted = jqFilter === null && flags.silent !== true && typeof answer.body === 'string';
  const json = isPrinted ? parseJson(String(answer.body)) : undefined;
  if (json !== undefined) {
    await writer.json(json);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function showPages(input: ShowInput, session: PlatformSession, progress: RequestProgress): Promise<void> {
  const { request, context } = input;
  let items = 0;
  let next: ResultPage['next'] = null;
  try {
    for await (const page of sendPages(request, session, progress)) {
      await showItems(input, page.items);
      items += page.items.length;
      next = page.next;
    }
  } catch (error) {
    // When standard output was closed early, nobody will continue.
    if (next !== null && context.terminal.outputClosed?.aborted !== true) {
      context.terminal.err(`Stopped after ${items} items; continue with -f page=${next}\n`);
    }
    throw error;
  }
}

/** Prints the items of all pages as one list, after the last page. */
async function showAll(input: ShowInput, session: PlatformSession, progress: RequestProgress): Promise<void> {
  const items: unknown[] = [];
  for await (const page of sendPages(input.request, session, progress)) {
    for (const item of page.items) {
      items.push(item);
    }
  }
  if (input.flags.silent !== true) {
    await showPayload(input, { kind: 'json', json: items }, 'application/json');
  }
}

async function showStream(input: ShowInput, session: PlatformSession, progress: RequestProgress): Promise<void> {
  const stream = await sendStreamed(input.request, session, progress);
  if (input.flags.include === true) {
    await input.writer.head(stream.head);
  }
  for await (const event of stream.events) {
    await showItems(input, [event]);
  }
}

async function showItems(input: ShowInput, items: readonly unknown[]): Promise<void> {
  const { jqFilter, flags, writer } = input;
  if (flags.silent === true) {
    return;
  }
  await (jqFilter === null ? writer.lines(items) : writer.filtered(await applyFilter(input, jqFilter, items), false));
}

async function applyFilter(
  { context }: ShowInput,
  jqFilter: JqFilter,
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  if (values.length === 0) {
    return values;
  }
  const result = await jqFilter.select(values);
  if (result.messages !== '') {
    context.terminal.err(`${printableLines(result.messages)}\n`);
  }
  return result.values;
}
