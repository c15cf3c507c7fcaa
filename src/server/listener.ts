/** Main-thread side of the HTTP listener: starts the thread and answers the requests that it forwards. */
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A request that is forwarded between threads. `id` matches the response to it. */
export interface Forwarded {
  readonly id: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array | null;
}

export interface ForwardedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | number | undefined>>;
  readonly body: Uint8Array;
}

export interface ListenerOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Timeout for receiving a whole request, in milliseconds. */
  readonly slowest: number;
  /** Largest request body, in bytes. */
  readonly largestBody: number;
  /** Paths whose last response is repeated while the main thread is busy. */
  readonly repeatedPaths: readonly string[];
  /** Path that returns 503 once the main thread has not responded for `longestSilence` milliseconds. */
  readonly livenessPath: string;
  readonly longestSilence: number;
  /** Metric that is set, in repeated responses, to the seconds since the main thread last responded. */
  readonly busyMetric: string;
}

export interface Listener {
  /** URL, such as `http://127.0.0.1:9464`. */
  readonly address: string;
  /** Completes requests in flight and stops. */
  close(): Promise<void>;
}

type Message = Forwarded | { readonly listening: AddressInfo } | { readonly failed: string };

/** Location of the thread: bundled in an installed package, source code in a checkout. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './listener-thread.ts' : './listener-thread.cjs',
  import.meta.url,
);
/** Heap limit of the thread, in megabytes. It holds only requests. */
const MEMORY_MB = 64;
/** Milliseconds that requests in flight may take after `close`. */
const CLOSING = 900;

/**
 * Starts the thread and resolves once it listens; rejects if it cannot. If the thread ends later on its own, throws an
 * uncaught error, because the process could not serve requests any more.
 */
export async function openListener(
  options: ListenerOptions,
  answer: (request: Forwarded) => Promise<ForwardedAnswer>,
): Promise<Listener> {
  const worker = new Worker(THREAD, {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    name: 'http',
  });
  let isClosing = false;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    worker.on('message', (message: Message) => {
      if ('listening' in message) {
        resolve(message.listening);
      } else if ('failed' in message) {
        reject(new Error(message.failed));
      } else {
        void answer(message).then((given) => worker.postMessage({ id: message.id, answer: given }));
      }
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the HTTP thread has ended')));
  }).catch(async (error) => {
    await worker.terminate();
    throw error;
  });
  worker.once('exit', () => {
    if (!isClosing) {
      throw new Error('the HTTP thread has ended');
    }
  });
  return {
    address: urlOf(address),
    close: async () => {
      isClosing = true;
      worker.postMessage({ close: true });
      const late = setTimeout(() => void worker.terminate(), CLOSING);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Converts an address to a URL. An address for all interfaces becomes a loopback address. */
function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}
