/** Check of `octavo doctor` for the webhook of the repository. */
import type { Config, OrganizationConfig } from '../../config/config.ts';
import { ConfigError, TransientError } from '../../core/errors.ts';
import { callControl, controlSocketPath, UnknownAnswerError } from '../../server/control-client.ts';
import { VIEWS } from '../cli/answers.ts';
import { userName } from '../cli/control-call.ts';
import { type Finding, good, note } from './feature-checks.ts';

const WHAT = 'webhook';

/**
 * Asks the running daemon for the last delivery; empty if no webhook is configured. `isTrusted`: the configuration was
 * named, so its control socket may be opened.
 */
export async function webhookFinding(
  config: Config,
  { id, forge }: OrganizationConfig,
  { isTrusted, version }: { readonly isTrusted: boolean; readonly version: string },
): Promise<readonly Finding[]> {
  if (forge?.webhookSecret === undefined) {
    return [];
  }
  if (!isTrusted) {
    return [note(WHAT, 'configured; pass --config to ask the daemon for the last delivery')];
  }
  try {
    const path = `/o/${encodeURIComponent(id)}`;
    const request = { command: 'views', user: userName(), path } as const;
    const expected = { answer: VIEWS.organization, version };
    const { webhook } = await callControl(controlSocketPath(config), request, expected);
    if (webhook === null) {
      return [note(WHAT, 'configured, but not in the running daemon; restart it')];
    }
    return webhook.needsAttention
      ? [note(WHAT, `${webhook.sentence}; octavo webhook ${id} shows what to enter at the forge`)]
      : [good(WHAT, `last delivery at ${webhook.lastAt}: ${webhook.sentence}`)];
  } catch (error) {
    if (error instanceof UnknownAnswerError) {
      return [note(WHAT, error.message)];
    }
    if (error instanceof ConfigError || error instanceof TransientError) {
      return [note(WHAT, 'configured; deliveries arrive while the daemon runs')];
    }
    throw error;
  }
}
