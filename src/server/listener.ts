/** Main-thread side of the HTTP listener: starts the thread and answers the requests that it forwards. */
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A request as it crosses the threads; `id` tells answers apart. */
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
  /** 0: any that is free. */
  readonly port: number;
  /** Milliseconds in which a request must have come in as a whole. */
  readonly slowest: number;
  /** Bytes of the largest request body. */
  readonly largestBody: number;
  /** Paths whose last answer is repeated while the main thread is busy. */
  readonly repeated: readonly string[];
  /** The path that answers 503 once the main thread has been silent for `longestSilence` milliseconds. */
  readonly aliveness: string;
  readonly longestSilence: number;
  /** A metric of a repeated answer that is set to the seconds for which the main thread has been silent. */
  readonly busyMetric: string;
}

export interface Listener {
  /** `http://127.0.0.1:9464`. */
  readonly address: string;
  /** Finishes what is under way and stops. */
  close(): Promise<void>;
}

type Message = Forwarded | { readonly listening: AddressInfo } | { readonly failed: string };

/** In an installed package everything is bundled into one folder; a checkout runs its source. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './listener-thread.ts' : './listener-thread.cjs',
  import.meta.url,
);
/** Megabytes of the thread's heap. It holds requests and nothing else. */
const MEMORY_MB = 64;
/** Milliseconds in which requests must end once the listener closes. */
const CLOSING = 900;

/**
 * Starts the thread; resolves once it listens. Rejects with the reason why it cannot. A thread that ends later on its
 * own is an uncaught error: without it the process answers nobody.
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

/** An address that can be asked: one that means all interfaces is asked at this machine's own. */
function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}
