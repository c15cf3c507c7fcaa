/** Runs `octavo health`, the health check of a container. */
import { Client } from 'undici';
import { z } from 'zod';
import type { ListenAddress } from '../../config/values.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { readConfigWithoutSecrets } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';

export interface HealthFlags {
  /** Also requires a completed first synchronization of every organization. */
  readonly ready?: boolean;
  readonly config?: string;
}

/** Timeout of the request, in milliseconds. */
const TIMEOUT = 4_000;
const answer = z.object({ reasons: z.array(z.string()).catch([]) }).catch({ reasons: [] });

/** Returns 0 if the daemon reports that it is healthy, otherwise prints its reasons and returns 1. Reads no secret. */
export async function healthCommand(flags: HealthFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const { server } = await readConfigWithoutSecrets(flags.config, '', context);
  const origin = originOf(server.listen);
  const path = flags.ready === true ? '/readyz' : '/healthz';
  const client = new Client(origin, { headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT });
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path, signal: AbortSignal.timeout(TIMEOUT) });
    const { reasons } = answer.parse(await body.json().catch(() => null));
    terminal.out(`${[String(statusCode), ...reasons].join(': ')}\n`);
    return statusCode === 200 ? EXIT.done : EXIT.failed;
  } catch (error) {
    terminal.err(`no response from ${origin}${path}: ${messageOf(error)}\n`);
    return EXIT.failed;
  } finally {
    await client.destroy();
  }
}

/** Origin of the daemon; for one that listens on all addresses, that of the loopback address. */
function originOf({ host, port }: ListenAddress): string {
  if (port === 0) {
    throw new ConfigError('server.listen has port 0, which selects a different port at every start; set a port');
  }
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}
