/** Runs `octavo api`: lists operations, shows a request, or sends it after confirmation. */
import { resolve } from 'node:path';
import { CancelledError, ConfigError, EXIT, type ExitCode, InterruptedError } from '../../core/errors.ts';
import { MAX_FILE_BYTES, readRegularFile } from '../../core/files/disk.ts';
import { shownJson } from '../../core/json.ts';
import { maskUrls, maskUrlsIn } from '../../core/text/safe-url.ts';
import { withoutTrailingSlashes } from '../../core/url.ts';
import { printable, printableLines } from '../../plan/render/words.ts';
import { allOperations } from '../../platform/operations/table.ts';
import { createRedactor, SECRET } from '../../redact.ts';
import { readTarget, unreadable } from '../cli/config.ts';
import { type CommandContext, paintFor, untilAborted } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { listOperations } from './operations.ts';
import { type FieldArgument, type PreparedRequest, prepare, type RequestArguments, secretValues } from './request.ts';
import { colorJson, openJqFilter, ResponseWriter, sendAndShow } from './response.ts';

/**
 * Returns `octavo api`. It throws InterruptedError as soon as the process is stopped; it succeeds when standard output is
 * closed early and nothing has failed. `repeated` has the values of repeatable options, in their order.
 */
export function apiCommand(repeated: {
  readonly fields: readonly FieldArgument[];
  readonly headers: readonly string[];
}) {
  return async (words: readonly string[], flags: ApiFlags, context: CommandContext): Promise<ExitCode> => {
    const { outputClosed } = context.terminal;
    const signal = outputClosed === undefined ? context.signal : AbortSignal.any([context.signal, outputClosed]);
    try {
      return await runApi({ ...repeated, words }, flags, { ...context, signal });
    } catch (error) {
      if (context.signal.aborted) {
        throw new InterruptedError(context.stoppedBy?.(), { cause: error });
      }
      if (outputClosed?.aborted === true && error instanceof CancelledError) {
        return EXIT.done;
      }
      throw error;
    }
  };
}

async function runApi(
  { words, fields, headers }: Pick<RequestArguments, 'words' | 'fields' | 'headers'>,
  flags: ApiFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const table = allOperations();
  if (flags.list !== undefined) {
    const filter = [...(flags.list === true ? [] : [flags.list]), ...words].flatMap((word) => word.split(/\s+/));
    listOperations(table, filter, flags.format, context);
    return EXIT.done;
  }
  const target = await readTarget(flags, context);
  const { organization } = target;
  const { baseUrl } = target.config.platform;
  const request = await prepare(
    { words, method: flags.method, fields, headers, data: flags.data, isRaw: flags.raw === true },
    { table, organization: organization.id, baseUrl, read: (name) => readInput(name, context) },
  );
  const secrets = secretValues(request.headers);
  for (const secret of secrets) {
    context.secrets?.add(secret);
  }
  checkFlags(request, flags);
  const jqFilter = flags.jq === undefined ? null : await openJqFilter(flags.jq, context.signal);
  try {
    for (const note of request.notes) {
      context.terminal.err(`${printableLines(note)}\n`);
    }
    const url = `${withoutTrailingSlashes(baseUrl)}${request.path}`;
    if (flags.dryRun === true) {
      showRequest(request, url, flags, context);
      return EXIT.done;
    }
    if (!(await confirm(request, url, flags, context))) {
      context.terminal.err('\nNot sent.\n');
      return EXIT.failed;
    }
    const writer = new ResponseWriter(context, [organization.token, ...secrets]);
    await withPlatform(target, context, (session) =>
      sendAndShow({ request, flags, jqFilter, writer, context, session }),
    );
    return EXIT.done;
  } finally {
    await jqFilter?.close();
  }
}

async function readInput(name: string, { terminal, signal }: CommandContext): Promise<string> {
  if (name === '-') {
    if (terminal.input === undefined) {
      throw new ConfigError('cannot read from standard input here');
    }
    return terminal.input(signal);
  }
  try {
    return readRegularFile(resolve(terminal.cwd, name), { limit: MAX_FILE_BYTES }).toString('utf8');
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Prints the request of a dry run, without the token and the values of secret headers. */
function showRequest(request: PreparedRequest, url: string, { format }: ApiFlags, { terminal }: CommandContext): void {
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

function shownHeaders({ headers }: PreparedRequest): Readonly<Record<string, string>> {
  const clean = createRedactor(secretValues(headers));
  const isSecret = (value: string) => secretValues(headers).includes(value);
  const entries = Object.entries(headers).map(([name, value]) => [name, isSecret(value) ? SECRET : clean(value)]);
  return Object.fromEntries(entries);
}

function requestText(request: PreparedRequest, url: string, paint: ReturnType<typeof paintFor>): string {
  const { method, body } = request;
  const headers = Object.entries(shownHeaders(request)).map(([name, value]) => `${paint.faint(`${name}:`)} ${value}\n`);
  const text = body === null ? '' : `${colorJson(shownJson(maskUrlsIn(JSON.parse(body))), paint)}\n`;
  return `${paint.strong(method)} ${maskUrls(url)}\n${headers.join('')}${text}`;
}

/** Returns true for a read, with `--yes`, and after confirmation. Throws ConfigError without a terminal to ask on. */
async function confirm(
  request: PreparedRequest,
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
  const answer = terminal.ask(`\nType yes to send ${printable(request.name)}: `);
  const reply = await Promise.race([answer, untilAborted(signal).then(() => '')]);
  if (signal.aborted) {
    throw new CancelledError(`${request.name} was not sent`);
  }
  return reply.trim().toLowerCase() === 'yes';
}

interface ApiFlags {
  readonly method?: string;
  readonly data?: string;
  readonly paginate?: boolean;
  readonly jq?: string;
  readonly include?: boolean;
  readonly silent?: boolean;
  readonly slurp?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly raw?: boolean;
  /** A filter, or true without one. */
  readonly list?: string | true;
  readonly format: 'text' | 'json';
  readonly config?: string;
  readonly organization?: string;
}

/** Throws ConfigError when flags conflict with the request or with each other. */
function checkFlags({ name, method, operation }: PreparedRequest, flags: ApiFlags): void {
  const { paginate, include, slurp, silent, jq } = flags;
  if (paginate === true && (method !== 'GET' || operation?.paginated === false)) {
    throw new ConfigError(`${name} is not a paginated list; leave out --paginate`);
  }
  if (slurp === true && paginate !== true) {
    throw new ConfigError('--slurp requires --paginate');
  }
  if (include === true && paginate === true) {
    throw new ConfigError('-i cannot be combined with --paginate, because each page has its own headers');
  }
  if (silent === true && jq !== undefined) {
    throw new ConfigError('--silent cannot be combined with --jq');
  }
}
