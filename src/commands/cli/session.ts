/** Connects a command to the platform: queue, transport, and giving up when the platform never responds. */
import type { Config, OrganizationConfig } from '../../config/config.ts';
import { CancelledError, messageOf, TransientError } from '../../core/errors.ts';
import { type Connection, openConnection } from '../../platform/connection.ts';
import type { CancelSignal } from '../../queue/request.ts';
import type { QueueEvent } from '../../queue/snapshot.ts';
import type { OrganizationTarget } from './config.ts';
import type { CommandContext, Terminal } from './context.ts';

/** Milliseconds that requests in flight have to finish when a session is closed. */
const DRAIN_TIMEOUT = 5000;

/** A connection to the platform for the duration of a command. */
export interface PlatformSession {
  readonly connection: Connection;
  /** Aborts when the process is stopped, or when the platform has never responded. */
  readonly signal: AbortSignal;
  /** Replaces the error of a cancelled request with the reason, when the platform has never responded. */
  explain(error: unknown): unknown;
}

/** Opens a session, runs `work` with it, and closes it. */
export async function withPlatform<T>(
  { config, organization }: OrganizationTarget,
  context: CommandContext,
  work: (session: PlatformSession) => Promise<T>,
): Promise<T> {
  const monitor = new ConnectivityMonitor(new URL(config.platform.baseUrl).origin, context.terminal);
  const connection = connect(config, organization, context, monitor);
  // When the process is stopped, requests in flight may finish; waiting requests are cancelled.
  const onEnd = () => void connection.queue.drain(DRAIN_TIMEOUT);
  context.signal.addEventListener('abort', onEnd, { once: true });
  try {
    return await work({
      connection,
      signal: AbortSignal.any([context.signal, monitor.signal]),
      explain: (error) => monitor.explain(error),
    });
  } catch (error) {
    throw monitor.explain(error);
  } finally {
    context.signal.removeEventListener('abort', onEnd);
    await connection.close();
  }
}

function connect(
  config: Config,
  organization: OrganizationConfig,
  context: CommandContext,
  monitor: ConnectivityMonitor,
): Connection {
  const { timeout, baseUrl } = config.platform;
  const { clock, random } = context;
  const { concurrency, deadline } = config.queue;
  const connection = openConnection({
    baseUrl,
    token: organization.token,
    tokenSource: config.tokenSources.get(organization.token),
    userAgent: `octavo/${context.version}`,
    concurrency,
    clock,
    random,
    timeouts: { headers: timeout, body: timeout },
    queue: { deadline, onEvent: monitor.onEvent },
  });
  const watched = async <T extends { readonly status: number }>(answering: Promise<T>, signal: CancelSignal) => {
    try {
      const answer = await answering;
      if (answer.status >= 500) {
        monitor.lastError = new TransientError(`${connection.origin} responded with status ${answer.status}`, false);
      }
      return answer;
    } catch (error) {
      if (!signal.aborted) {
        monitor.lastError = error;
      }
      throw error;
    }
  };
  const transport: Connection['transport'] = {
    send: (request, signal) => watched(connection.transport.send(request, signal), signal),
    open: (request, signal) => watched(connection.transport.open(request, signal), signal),
  };
  return { ...connection, transport, close: () => connection.close(DRAIN_TIMEOUT) };
}

/**
 * Ends a command when the platform has never responded, with the reason; a daemon would keep retrying. Once the platform
 * has responded, outages are reported and waited out.
 */
class ConnectivityMonitor {
  readonly #gaveUp = new AbortController();
  readonly #origin: string;
  readonly #terminal: Terminal;
  #answered = false;
  #failures = 0;
  /** Error of the latest failed attempt, for messages. */
  lastError: unknown = null;

  constructor(origin: string, terminal: Terminal) {
    this.#origin = origin;
    this.#terminal = terminal;
  }

  /** Aborts when the command gives up on the platform. */
  get signal(): AbortSignal {
    return this.#gaveUp.signal;
  }

  readonly onEvent = (event: QueueEvent): void => {
    if (event.kind === 'attempt') {
      this.#answered ||= ['answered', 'rejected', 'refused'].includes(event.outcome);
    } else if (event.kind === 'breaker' && event.state === 'open') {
      this.#failures += 1;
      if (this.#answered || this.#failures === 1) {
        this.#terminal.err(`${this.#problem()}; retrying\n`);
      } else {
        this.#gaveUp.abort();
      }
    }
  };

  /** Replaces the cancellation that giving up causes with an error that has the reason. */
  explain(error: unknown): unknown {
    return this.#gaveUp.signal.aborted && error instanceof CancelledError
      ? new TransientError(`${this.#problem()}; gave up after several attempts`, false, { cause: this.lastError })
      : error;
  }

  #problem(): string {
    return this.lastError === null ? `${this.#origin} does not respond` : messageOf(this.lastError);
  }
}
