/** Event streams: they tell browsers that something changed, and never what. Browsers then load the page again. */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { UiConfig } from '../../config/ui.ts';
import type { Clock } from '../../core/clock.ts';
import { type KnownPerson, viewerOf } from '../auth/authenticator.ts';
import { type Backend, organizationOf, PageError, type Topic, type Viewer } from '../model/page.ts';

export interface EventStreamOptions {
  readonly backend: Backend;
  readonly config: UiConfig;
  /** Finds out who sends a request; null if nobody has signed in. */
  readonly identify: (request: FastifyRequest) => Promise<KnownPerson | null>;
  /** Returns the average duration of making a page, in milliseconds. */
  readonly pageDuration: () => number;
}

interface Stream {
  readonly request: FastifyRequest;
  readonly response: ServerResponse;
  readonly since: number;
  /** Changes when the person is checked again. */
  identity: KnownPerson;
}

/** Maximum number of streams. A browser has one for all its tabs. */
const MAX_STREAMS = 200;
/** Milliseconds in which changes are collected into one event after a quiet time. */
const COLLECT = 100;
/** Least milliseconds between two events, and additional ones for each stream: writing to it takes about 12 µs. */
const INTERVAL = 1000;
const INTERVAL_PER_STREAM = 25;
/** Maximum topics of an event. More become one, for any organization. */
const MAX_TOPICS = 50;
const ANY_ORGANIZATION = '*';
/** Milliseconds between comments that keep proxies from closing a stream. */
const HEARTBEAT = 25_000;
/** Milliseconds after which a stream ends. The browser opens the next one, and its person is checked again. */
const LIFETIME = 15 * 60_000;
/** Bytes that may wait in a stream before it is given up. */
const MAX_WAITING = 65_536;
/**
 * Times that the duration of a page is waited for each stream, and the least duration and wait in milliseconds: however
 * many browsers ask for a page, making it takes at most about 4 % of the time.
 */
const SPREAD = 50;
const LEAST_DURATION = 2;
const LEAST_WAIT = 500;
export class EventStreams {
  readonly #options: EventStreamOptions;
  readonly #clock: Clock;
  readonly #streams = new Set<Stream>();
  readonly #changed = new Set<Topic>();
  readonly #closing = new AbortController();
  #isCollecting = false;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#clock = options.backend.clock;
  }

  addTo(app: FastifyInstance): void {
    const stop = this.#options.backend.onChange((topic) => this.#change(topic));
    void this.#beat();
    app.get('/events', { exposeHeadRoute: false }, (request, reply) => this.#open(request, reply));
    // An open stream would hold up the end of the server.
    app.addHook('preClose', async () => {
      stop();
      this.#closing.abort();
      for (const { response } of this.#streams) {
        response.end();
      }
    });
  }

  async #open(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const identity = await this.#options.identify(request);
    if (identity === null) {
      throw new PageError(401, 'Sign in first.');
    }
    if (this.#streams.size >= MAX_STREAMS || this.#closing.signal.aborted) {
      throw new PageError(503, 'There are too many open pages. This one is loaded again every minute.', {
        'retry-after': '60',
      });
    }
    const response = reply.hijack().raw;
    const stream = { request, response, since: this.#clock.monotonic(), identity };
    this.#streams.add(stream);
    response.once('close', () => this.#streams.delete(stream));
    response.on('error', () => response.destroy());
    response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream',
      // Makes nginx pass events on at once.
      'x-accel-buffering': 'no',
    });
    response.write('retry: 3000\n\n');
  }

  /** Ends the streams of people who are not signed in any more. Roles of the others may have changed. */
  async recheck(): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => this.#recheckOne(stream)));
  }

  async #recheckOne(stream: Stream): Promise<void> {
    const identity = await this.#options.identify(stream.request).catch(() => null);
    if (identity === null) {
      stream.response.end();
    } else {
      stream.identity = identity;
    }
  }

  #change(topic: Topic): void {
    if (this.#streams.size === 0) {
      return;
    }
    this.#changed.add(topic);
    if (!this.#isCollecting) {
      this.#isCollecting = true;
      const interval = Math.max(INTERVAL, this.#streams.size * INTERVAL_PER_STREAM);
      const quiet = this.#clock.monotonic() - this.#sentAt;
      void this.#sleep(Math.max(COLLECT, interval - quiet)).then((hasSlept) => {
        this.#isCollecting = false;
        const topics = [...this.#changed];
        this.#changed.clear();
        if (hasSlept) {
          this.#sentAt = this.#clock.monotonic();
          this.#send(topics);
        }
      });
    }
  }

  #send(topics: readonly Topic[]): void {
    const duration = Math.max(LEAST_DURATION, this.#options.pageDuration());
    const wait = Math.max(LEAST_WAIT, Math.round(this.#streams.size * SPREAD * duration));
    // Each event is the same for all streams of a person.
    for (const streams of Map.groupBy(this.#streams, ({ identity }) => JSON.stringify(identity)).values()) {
      const [{ identity }] = streams as [Stream, ...Stream[]];
      const seen = visibleTopics(viewerOf(identity, this.#options.config), topics);
      const event = Buffer.from(`data: ${JSON.stringify({ topics: seen, wait })}\n\n`);
      for (const stream of seen.length > 0 ? streams : []) {
        write(stream, event);
      }
    }
  }

  async #beat(): Promise<void> {
    while (await this.#sleep(HEARTBEAT)) {
      await this.recheck();
      for (const stream of this.#streams) {
        if (this.#clock.monotonic() - stream.since >= LIFETIME) {
          stream.response.end();
        } else {
          write(stream, ':\n\n');
        }
      }
    }
  }

  /** Returns false if the server closes. */
  #sleep(milliseconds: number): Promise<boolean> {
    return this.#clock.sleep(milliseconds, this.#closing.signal).then(
      () => true,
      () => false,
    );
  }
}

/** Returns the topics of an event for a person. */
function visibleTopics(viewer: Viewer, topics: readonly Topic[]): readonly string[] {
  const global = topics.filter((topic) => organizationOf(topic) === null);
  const own = topics.filter((topic) => {
    const id = organizationOf(topic);
    return id !== null && viewer.role(id) !== null;
  });
  return [...global, ...(own.length > MAX_TOPICS ? [ANY_ORGANIZATION] : own)];
}

/** Writes to a stream, or gives it up if its browser does not read it. */
function write({ response }: Stream, text: string | Buffer): void {
  if (response.writableLength > MAX_WAITING) {
    response.destroy();
  } else if (!response.writableEnded) {
    response.write(text);
  }
}
