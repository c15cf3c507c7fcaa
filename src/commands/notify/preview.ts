/** Command that prints the messages of samples. */
import type { Config } from '../../config/config.ts';
import { CONDITION_CODES, EVENT_CODES } from '../../core/condition-codes.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { channelRules } from '../../notify/notifier.ts';
import { previewBody, previewText } from '../../notify/preview-body.ts';
import { readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { findChannel, type NotificationCode, type SampleContent, sampleContent, sampleNotification } from './sample.ts';

export interface PreviewFlags {
  readonly config?: string;
  readonly channel?: string;
  readonly format: 'text' | 'json';
}

/** Prints the messages of all samples, of those that a channel receives, or of one. Sends nothing. */
export async function previewCommand(
  code: NotificationCode | undefined,
  { config: file, channel: name, format }: PreviewFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal, clock } = context;
  const config = await readConfig(file, context);
  const channel = name === undefined ? null : findChannel(name, config);
  const now = clock.now();
  const wants = code !== undefined || name === undefined ? () => true : routeFilter(name, config, now);
  const codes = code === undefined ? [...CONDITION_CODES, ...EVENT_CODES] : [code];
  const previews = codes.flatMap((each) => {
    const contents = config.organizations.map(({ id }) => sampleContent({ code: each, organization: id, now }, config));
    const content = contents.find(wants);
    return content === undefined ? [] : [{ code: each, outgoing: outgoingOf(each, content, config, now) }];
  });
  if (format === 'json') {
    const bodies = previews.map(({ code: each, outgoing }) => ({
      code: each,
      body: channel === null ? outgoing.message : previewBody(channel, outgoing),
    }));
    terminal.out(`${JSON.stringify(bodies, null, 2)}\n`);
  } else {
    terminal.out(previews.map(({ code: each, outgoing }) => `--- ${each}\n${previewText(outgoing)}`).join('\n'));
  }
  return EXIT.done;
}

/** Returns a predicate for what the routes lead to a channel. */
function routeFilter(name: string, { notifications }: Config, now: number): (content: SampleContent) => boolean {
  const rules = channelRules(notifications, [{ name, isPager: false }], now);
  return ({ conditions, events }) =>
    rules.some(({ wants, wantsEvent }) => conditions.some(wants) || events.some(wantsEvent));
}

function outgoingOf(code: NotificationCode, content: SampleContent, config: Config, now: number) {
  const message = sampleNotification(content, content.events.length > 0 ? 'event' : 'firing', config, now);
  return { id: `sample-${code}`, thread: `sample-${code}`, message, receipt: null };
}
