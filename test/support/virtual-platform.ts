/** The embedded platform in virtual time. */
import { TransientError } from '../../src/core/errors.ts';
import { answer, apiRouter } from '../../src/emulator/api.ts';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { createStore } from '../../src/emulator/families.ts';
import { type RateLimits, RequestLimiter } from '../../src/emulator/http/limits.ts';
import { RequestLog } from '../../src/emulator/http/request-log.ts';
import type { ApiAnswer } from '../../src/emulator/model/answers.ts';
import { ALL_FEATURES, type Features } from '../../src/emulator/model/features.ts';
import type { Caller } from '../../src/emulator/model/operation.ts';
import type { EmulatorStore } from '../../src/emulator/model/store.ts';
import { defaultState } from '../../src/emulator/organizations/seed.ts';
import type { Connection } from '../../src/platform/connection.ts';
import type { HttpAnswer, HttpRequest } from '../../src/platform/http/transport.ts';
import { type QueueOptions, RequestQueue } from '../../src/queue/dispatcher.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { noStreams } from './no-streams.ts';

/** Fault of a request: it is answered with this status, or never. */
export type Fault = number | 'silence';

/** A request as the platform receives it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly operation: string;
  readonly token: string;
}

export interface VirtualPlatformOptions {
  readonly state?: EmulatorState;
  /** Per token. */
  readonly limits?: RateLimits;
  /** Milliseconds from sending to the answer; 150 where absent. */
  readonly rtt?: number;
  /** Milliseconds that background processing of the platform takes; 0 where absent. */
  readonly processing?: number;
  /** Features of the emulated version; those of the oldest by default. */
  readonly features?: Features;
  /** User of a token; where absent, any token is an admin's. */
  readonly caller?: (token: string) => Caller | undefined;
}

/** Response timeout of a client, in milliseconds. */
const PATIENCE = 30_000;
const ADMIN: Caller = { user: 'ana@acme.example', permission: 'admin' };

/** The embedded platform without sockets, in virtual time. */
export class VirtualPlatform {
  readonly clock: VirtualClock = createVirtualClock();
  readonly requests: RequestLog;
  /** Faults of requests; none where absent. */
  fault: (seen: Seen) => Fault | null = () => null;
  readonly #store: EmulatorStore = createStore();
  readonly #router = apiRouter();
  readonly #recorder = new RequestLog();
  readonly #limiter: RequestLimiter;
  readonly #options: VirtualPlatformOptions;

  constructor(options: VirtualPlatformOptions = {}) {
    this.#options = options;
    this.#store.load(options.state ?? defaultState());
    this.#limiter = new RequestLimiter(options.limits ?? {});
    this.requests = this.#recorder;
  }

  state(): EmulatorState {
    return this.#store.dump();
  }

  /** Transport with a token. */
  connect(token = 'token', options: Partial<QueueOptions> = {}): Connection {
    const { clock } = this;
    return {
      baseUrl: 'http://platform.example',
      origin: 'http://platform.example',
      queue: new RequestQueue({ clock, random: () => 0.5, concurrency: 10, ...options }),
      transport: { ...noStreams, send: (request) => this.#send(request, token) },
      clock,
      close: async () => undefined,
    };
  }

  async #send(request: HttpRequest, token: string): Promise<HttpAnswer> {
    const { clock } = this;
    const way = (this.#options.rtt ?? 150) / 2;
    await clock.sleep(way);
    const [path = '', search] = request.path.split('?');
    const match = this.#router.find(request.method, path);
    const operation = match?.operation.name ?? 'unknown';
    const now = clock.now();
    const caller = this.#options.caller === undefined ? ADMIN : this.#options.caller(token);
    const close = this.#recorder.open({
      method: request.method,
      operation,
      path: request.path,
      user: caller?.user ?? null,
      agent: '',
      at: now,
    });
    const admission = this.#limiter.admit(token, request.method === 'GET' ? 'read' : 'write', now);
    const fault = admission.admitted
      ? this.fault({ method: request.method, path, body: request.body ?? '', operation, token })
      : 429;
    if (fault === 'silence') {
      await clock.sleep(PATIENCE);
      throw new TransientError('no answer in time', true);
    }
    const answered: ApiAnswer =
      fault === null
        ? answer(this.#context(now), caller, match, {
            method: request.method,
            path,
            search: search === undefined ? '' : `?${search}`,
            contentType: 'application/json',
            body: request.body === null ? Buffer.alloc(0) : Buffer.from(request.body),
          })
        : { status: fault, body: { error: { code: fault, message: 'Something is wrong' } } };
    close(answered.status);
    await clock.sleep(way);
    const headers = { ...admission.headers, Date: new Date(now).toUTCString() };
    return {
      status: answered.status,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      receivedAt: clock.monotonic(),
      body: answered.body === undefined ? '' : JSON.stringify(answered.body),
    };
  }

  #context(now: number): Parameters<typeof answer>[0] {
    const processing = this.#options.processing ?? 0;
    return {
      store: this.#store,
      now,
      at: new Date(now).toISOString(),
      base: 'http://platform.example',
      features: this.#options.features ?? ALL_FEATURES,
      processing: { openapi: processing, translation: processing, conversations: processing },
      defaults: {},
      pageSize: 50,
    };
  }
}
