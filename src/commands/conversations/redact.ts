/** Prints a text as it would be sent, for `octavo redact`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { redactionOptions } from '../../conversations/redact/options.ts';
import {
  createConversationRedactor,
  type Explained,
  type RedactionOptions,
} from '../../conversations/redact/redactor.ts';
import { asUtf8, fileInput } from '../../conversations/sources/files/input.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { largest } from '../../core/lists.ts';
import { counted, shortened } from '../../plan/render/words.ts';
import { chooseOrganization, DEFAULT_CONFIG, readConfig, readConfigWithoutSecrets } from '../cli/config.ts';
import type { CommandContext, Terminal } from '../cli/context.ts';
import { table } from '../cli/table.ts';

interface RedactCommandOptions {
  readonly explain?: boolean;
  readonly config?: string;
  readonly organization?: string;
}

/**
 * `octavo redact FILE`: prints a text as it would be sent. With `--explain`, shows what would be removed; this needs a
 * terminal because it shows the values. Throws ConfigError.
 */
export async function redactCommand(
  file: string,
  options: RedactCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal } = context;
  if (options.explain === true && !terminal.isOutTerminal) {
    throw new ConfigError('--explain shows private values and needs a terminal; the output is redirected');
  }
  const redactor = createConversationRedactor(await rules(options, context));
  const text = await textOf(resolve(terminal.cwd, file), file);
  const [explained] = redactor.explain(text);
  if (explained !== undefined) {
    const text = terminal.isOutTerminal ? inert(explained.redacted) : explained.redacted;
    terminal.out(options.explain === true ? explanation(explained, terminal) : text);
  }
  return EXIT.done;
}

/** Redaction options from the configuration if the file exists, else the defaults. */
async function rules(
  { config, organization }: RedactCommandOptions,
  context: CommandContext,
): Promise<RedactionOptions> {
  if (config === undefined && !existsSync(resolve(context.terminal.cwd, DEFAULT_CONFIG))) {
    return {};
  }
  // Nothing is sent, so the default file is good enough. Settings that only the platform needs are not read.
  const read =
    config === undefined
      ? readConfigWithoutSecrets(DEFAULT_CONFIG, organization ?? '', context)
      : readConfig(config, context);
  const { conversations } = chooseOrganization(await read, organization);
  return redactionOptions(conversations.redact);
}

async function textOf(path: string, name: string): Promise<string> {
  try {
    const pieces: Buffer[] = [];
    for await (const piece of asUtf8(fileInput(path).open())) {
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError(`cannot read ${name}: ${isMissing ? 'file not found' : messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Fewest characters of a value that are shown, also on a narrow terminal. */
const LEAST_VALUE = 12;

/** A table with a row for each value, and its rule: what recognized it. */
function explanation({ text, spans }: Explained, terminal: Terminal): string {
  if (spans.length === 0) {
    return 'Nothing would be removed.\n';
  }
  let line = 1;
  let read = 0;
  const rows = spans.map(({ type, rule, start, end, placeholder }) => {
    for (let next = text.indexOf('\n', read); next >= 0 && next < start; next = text.indexOf('\n', read)) {
      line += 1;
      read = next + 1;
    }
    return { line: String(line), type, rule, value: text.slice(start, end), placeholder };
  });
  const widthOf = (head: 'line' | 'type' | 'rule' | 'placeholder') =>
    largest(
      rows.map((row) => row[head].length),
      head.length,
    );
  const others = widthOf('line') + widthOf('type') + widthOf('rule') + widthOf('placeholder') + 8;
  const room = Math.max(LEAST_VALUE, terminal.columns - others);
  const lines = table(
    ['line', 'type', 'rule', 'value', 'placeholder'],
    rows.map(({ line, type, rule, value, placeholder }) => [line, type, rule, shortened(value, room), placeholder]),
    terminal,
  );
  return `${[...lines, '', `${counted(spans.length, 'value')} would be removed.`].join('\n')}\n`;
}

/** Replaces control characters, which could move the terminal's cursor or change the reading direction. */
function inert(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(/[^\P{C}\n\t]/gu, '·');
}
