/** Implements `octavo webhook`: shows or creates the webhook of a repository. */

import type { Config, OrganizationConfig } from '../../config/config.ts';
import { forgeTarget } from '../../config/forge.ts';
import { AuthError, ConfigError, EXIT, type ExitCode } from '../../core/errors.ts';
import { largest } from '../../core/lists.ts';
import { hookForm } from '../../forge/webhooks.ts';
import { printable } from '../../plan/render/words.ts';
import { pushHookPath } from '../../server/hooks.ts';
import { chooseOrganization, readTrustedConfig } from '../cli/config.ts';
import { type CommandContext, interruptibleClock } from '../cli/context.ts';

export interface WebhookFlags {
  readonly config?: string;
  readonly create?: boolean;
}

/** Prints what to enter at the forge, or creates or updates the webhook there. Never prints the secret. */
export async function webhookCommand(
  organization: string | undefined,
  flags: WebhookFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(flags.config, context);
  if (organization === undefined && config.organizations.length > 1) {
    const known = config.organizations.map(({ id }) => id).join(', ');
    throw new ConfigError(`several organizations are configured; name one of ${known}`);
  }
  const chosen = chooseOrganization(config, organization);
  const webhook = webhookOf(chosen);
  if (flags.create === true) {
    await create(webhook, chosen, config, context);
    return EXIT.done;
  }
  const form = hookForm(
    webhook.forge,
    hookUrl(chosen, config),
    webhook.secret.startsWith('whsec_'),
    webhook.hasComments,
  );
  const width = largest(form.fields.map(([label]) => label.length));
  const lines = [
    `In the settings of ${webhook.repository} at ${form.label}, open ${form.place}, and enter:`,
    '',
    ...form.fields.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`),
    '',
    ...(config.server.publicUrl === undefined
      ? ['server.publicUrl is not set: replace the address with one that the forge can reach.']
      : []),
    `To create it with a token (${form.permission}), set forge.token and add --create.`,
  ];
  context.terminal.out(lines.map((line) => `${printable(line)}\n`).join(''));
  return EXIT.done;
}

/** Returns the webhook of an organization, as far as it is configured. Throws ConfigError. */
function webhookOf({ id, source, forge }: OrganizationConfig) {
  if (source?.git === undefined || forge?.webhookSecret === undefined) {
    throw new ConfigError(
      source?.git === undefined
        ? `organization ${id} has no repository; set source.git, and forge.webhookSecret`
        : `organization ${id} has no webhook; set forge.webhookSecret to the result of openssl rand -hex 32`,
    );
  }
  const { type, repository, apiUrl } = forgeTarget(forge, source.git.url);
  if (type === null || repository === null) {
    throw new ConfigError(`the forge of ${id} is not known; set forge.type and forge.repository`);
  }
  return {
    forge: type,
    repository,
    apiUrl,
    token: forge.token ?? null,
    secret: forge.webhookSecret,
    hasComments: forge.approveByComment !== undefined,
  };
}

function hookUrl({ id }: OrganizationConfig, { server }: Config): string {
  const { host, port } = server.listen;
  const listen = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return `${(server.publicUrl ?? listen).replace(/\/$/, '')}${pushHookPath(id)}`;
}

async function create(
  webhook: ReturnType<typeof webhookOf>,
  organization: OrganizationConfig,
  config: Config,
  context: CommandContext,
) {
  const { forge, repository, apiUrl, token, secret, hasComments } = webhook;
  const missing = [
    ...(config.server.publicUrl === undefined ? ['server.publicUrl to the URL that the forge can reach'] : []),
    ...(token === null ? ['forge.token to a token that may create webhooks'] : []),
    ...(apiUrl === null ? ['forge.apiUrl to the address of its API'] : []),
  ];
  if (token === null || apiUrl === null || missing.length > 0) {
    throw new ConfigError(`the webhook cannot be created; set ${missing.join(', and ')}`);
  }
  const url = hookUrl(organization, config);
  const { label, permission } = hookForm(forge, url, false, hasComments);
  const { ensureHook } = await import('../../forge/open-forge.ts');
  const outcome = await ensureHook(
    { forge, apiUrl, repository, token, url, secret, hasComments },
    { clock: interruptibleClock(context), signal: context.signal, userAgent: `octavo/${context.version}` },
  ).catch((error: unknown) => {
    if (error instanceof AuthError) {
      throw new AuthError(`${error.message}; forge.token needs ${permission}`, error.status, { cause: error });
    }
    throw error;
  });
  context.terminal.out(`${printable(`${outcome} the webhook of ${repository} at ${label}: ${url}`)}\n`);
}
