import { resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import { CancelledError, ConfigError, EXIT, type ExitCode, InterruptedError, messageOf } from '../../core/errors.ts';
import { LARGEST_FILE, readRegularFile } from '../../core/files/regular-file.ts';
import { shownJson } from '../../core/json.ts';
import { maskUrls, maskUrlsIn } from '../../core/text/safe-url.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import { printableLines } from '../../plan/render/words.ts';
import { operations } from '../../platform/operations/index.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { createRedactor, SECRET } from '../../redact.ts';
import { type CommandContext, chooseOrganization, readConfig, untilAborted, withPlatform } from '../cli/setup.ts';
import { paintFor } from '../cli/terminal.ts';
import { type ApiFlags, mustGoTogether, type Repeated } from './flags.ts';
import { secretValues } from './headers.ts';
import { openSelection } from './jq.ts';
import { listOperations } from './list.ts';
import { AnswerWriter, colouredJson } from './output.ts';
import { type Prepared, prepare } from './prepare.ts';
import { sendAndShow, type Wanted } from './show.ts';

/**
 * `octavo api`. Throws InterruptedError as soon as the process is asked to end; ends without an error when nobody
 * reads the answer any more and nothing has failed.
 */
export async function apiCommand(
  words: readonly string[],
  repeated: Repeated,
  flags: ApiFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { readerLeft } = context.terminal;
  const signal = readerLeft === undefined ? context.signal : AbortSignal.any([context.signal, readerLeft]);
  try {
    return await runApi(words, repeated, flags, { ...context, signal });
  } catch (error) {
    if (context.signal.aborted) {
      throw new InterruptedError(context.stoppedBy?.(), { cause: error });
    }
    if (readerLeft?.aborted === true && error instanceof CancelledError) {
      return EXIT.done;
    }
    throw error;
  }
}

async function runApi(
  words: readonly string[],
  { fields, headers }: Repeated,
  flags: ApiFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const table: readonly Operation[] = Object.values(operations);
  if (flags.list !== undefined) {
    const filter = [...(flags.list === true ? [] : [flags.list]), ...words].flatMap((word) => word.split(/\s+/));
    listOperations(table, filter, flags.format, context);
    return EXIT.done;
  }
  const config = await readConfig(flags.config, context);
  const organization = chooseOrganization(config, flags.organization);
  const { baseUrl } = config.platform;
  const request = await prepare(
    { words, method: flags.method, fields, headers, data: flags.data, isRaw: flags.raw === true },
    { table, organization: organization.id, baseUrl, read: (name) => readNamed(name, context) },
  );
  for (const secret of secretValues(request.headers)) {
    context.secrets?.add(secret);
  }
  mustGoTogether(request, flags);
  const selection = flags.jq === undefined ? null : await openSelection(flags.jq, context.signal);
  try {
    return await carryOut({ request, flags, selection, context }, config, organization);
  } finally {
    await selection?.close();
  }
}

interface Wish extends Wanted {
  readonly flags: ApiFlags;
}

/** Shows the request, asks, and sends it: as much of that as is wanted. */
async function carryOut(wish: Wish, config: Config, organization: OrganizationConfig): Promise<ExitCode> {
  const { request, flags, context } = wish;
  for (const note of request.notes) {
    context.terminal.err(`${printableLines(note)}\n`);
  }
  const url = `${withoutTrailingSlashes(config.platform.baseUrl)}${request.path}`;
  if (flags.dryRun === true) {
    showRequest(request, url, flags, context);
    return EXIT.done;
  }
  if (!(await isWanted(request, url, flags, context))) {
    context.terminal.err('\nNot sent.\n');
    return EXIT.failed;
  }
  const writer = new AnswerWriter(context, [organization.token, ...secretValues(request.headers)]);
  await withPlatform(config, organization, context, (session) => sendAndShow({ ...wish, writer }, session));
  return EXIT.done;
}

async function readNamed(name: string, { terminal, signal }: CommandContext): Promise<string> {
  if (name === '-') {
    if (terminal.input === undefined) {
      throw new ConfigError('cannot read from standard input here');
    }
    return terminal.input(signal);
  }
  try {
    return readRegularFile(resolve(terminal.cwd, name), { limit: LARGEST_FILE }).toString('utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError(`cannot read ${name}: ${isMissing ? 'no such file' : messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Prints what would be sent, for `--dry-run`: without the token, and without the values of secret headers. */
function showRequest(request: Prepared, url: string, { format }: ApiFlags, { terminal }: CommandContext): void {
  const { method, body } = request;
  const json: unknown = maskUrlsIn(body === null ? null : JSON.parse(body));
  if (format === 'json') {
    const shown = {
      format: 'octavo.request/1',
      method,
      url: maskUrls(url),
      headers: shownHeaders(request),
      body: json,
    };
    terminal.out(`${shownJson(shown)}\n`);
    return;
  }
  terminal.out(requestText(request, url, paintFor(terminal.isOutTerminal, terminal.env)));
  terminal.err('Not sent (dry run).\n');
}

function shownHeaders({ headers }: Prepared): Readonly<Record<string, string>> {
  const clean = createRedactor(secretValues(headers));
  const isSecret = (value: string) => secretValues(headers).includes(value);
  const entries = Object.entries(headers).map(([name, value]) => [name, isSecret(value) ? SECRET : clean(value)]);
  return Object.fromEntries(entries);
}

function requestText(request: Prepared, url: string, paint: ReturnType<typeof paintFor>): string {
  const { method, body } = request;
  const headers = Object.entries(shownHeaders(request)).map(([name, value]) => `${paint.faint(`${name}:`)} ${value}\n`);
  const text = body === null ? '' : `${colouredJson(shownJson(maskUrlsIn(JSON.parse(body))), paint)}\n`;
  return `${paint.strong(method)} ${maskUrls(url)}\n${headers.join('')}${text}`;
}

/** Whether a person wants it: said beforehand, or now. Throws ConfigError where nobody can be asked. */
async function isWanted(
  request: Prepared,
  url: string,
  flags: ApiFlags,
  { terminal, signal }: CommandContext,
): Promise<boolean> {
  if (request.repeat === 'safe' || flags.yes === true) {
    return true;
  }
  if (terminal.ask === null) {
    throw new ConfigError(`no terminal to ask for confirmation; pass --yes to send ${request.name}`);
  }
  terminal.err(requestText(request, url, paintFor(terminal.isErrTerminal, terminal.env)));
  const answer = terminal.ask('\nSend it? Enter "yes" to confirm: ');
  const said = await Promise.race([answer, untilAborted(signal).then(() => '')]);
  if (signal.aborted) {
    throw new CancelledError(`${request.name} was not sent`);
  }
  return said.trim().toLowerCase() === 'yes';
}
