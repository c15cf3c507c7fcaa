/** Fake helpdesk with a log of edits. */
import { Ingestion } from '../../src/conversations/ingestion.ts';
import type { PollingSource, Webhook } from '../../src/conversations/model/source.ts';
import type { Redactor, SourceRecord, TicketSkipReason } from '../../src/conversations/model/ticket.ts';
import { createIdPseudonymizer } from '../../src/conversations/private-ids.ts';
import type { Json } from '../../src/core/json.ts';
import { openMemoryStore } from '../../src/store/memory.ts';

export type TicketState = 'solved' | 'open' | 'private' | 'spam' | 'deleted';

/** Event of a ticket. */
export interface Edit {
  readonly id: string;
  readonly state: TicketState;
  /** Distinguishes this version from others. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Text that must not appear anywhere: private text of a customer, and everything in tickets that are not eligible. */
export const SECRET = /hush-\w+|never-\w+/;

/** Redacts the private text that customers wrote. */
export const testRedactor: Redactor = {
  version: 'test/1',
  text: (text) => text.replace(/hush-\w+/g, '[SECRET]'),
  pseudonymize: createIdPseudonymizer(Buffer.from('the key of tests')),
  redact(ticket) {
    const hits = ticket.parts.flatMap(({ body }) => body.match(/hush-\w+/g) ?? []);
    const clean = (text: string) => text.replace(/hush-\w+/g, '[SECRET]');
    return {
      conversation: {
        id: ticket.key,
        subject: clean(ticket.subject),
        parts: ticket.parts.map(({ role, body }) => ({ type: 'message', role, body: clean(body) })),
        metadata: { attributes: ticket.attributes, createdAt: ticket.createdAt ?? undefined },
      },
      counts: hits.length === 0 ? {} : { secret: hits.length },
    };
  },
};

const PAGE = 3;

/** Helpdesk with a log of edits, whose cursor is a position in the log. Reads always return the newest version. */
export class Helpdesk {
  readonly log: Edit[] = [];
  /** Thrown instead of an answer. */
  failure: () => Error | null = () => null;
  fetches = 0;
  /** Parts that are reported but not returned. */
  withheld = 0;
  /** True if its list includes deleted tickets and spam; otherwise only a fetch returns them. */
  readonly #listsDeleted: boolean;

  constructor({ listsDeleted = true }: { readonly listsDeleted?: boolean } = {}) {
    this.#listsDeleted = listsDeleted;
  }

  edit(id: string, state: TicketState, at: number): void {
    this.log.push({ id, state, version: this.log.length + 1, at });
  }

  newest(id: string): Edit | undefined {
    return this.log.findLast((edit) => edit.id === id);
  }

  /** Expected final content of each eligible ticket on the platform. */
  expected(): ReadonlyMap<string, string> {
    const solved = [...new Set(this.log.map(({ id }) => id))].flatMap((id) => {
      const edit = this.newest(id);
      return edit?.state === 'solved'
        ? [[`desk/acme/${id}`, wordsOf(edit).replace(/hush-\w+/g, '[SECRET]')] as const]
        : [];
    });
    return new Map(solved);
  }

  found(id: string): SourceRecord {
    const edit = this.newest(id);
    const key = `desk/acme/${id}`;
    if (edit === undefined || edit.state === 'deleted') {
      return { kind: 'gone', key };
    }
    if (edit.state !== 'solved') {
      return { kind: 'skipped', key, reason: edit.state satisfies TicketSkipReason };
    }
    return {
      kind: 'ticket',
      ticket: {
        key,
        subject: `About ${id}`,
        createdAt: '2026-01-01T00:00:00.000Z',
        settledAt: edit.at,
        url: null,
        attributes: { status: 'solved' },
        parts: [{ role: 'user', body: wordsOf(edit) }],
        people: [],
        completeness: { reported: 1 + this.withheld, fetched: 1 },
        ...(this.#listsDeleted ? {} : { recheck: id }),
      },
    };
  }

  /** `pause`: duration of a fetch, during which other work continues. */
  source(name = 'desk', pause: () => Promise<void> = async () => undefined): PollingSource {
    const desk = this;
    return {
      name,
      async *poll({ cursor, since }) {
        const first = desk.log.findIndex(({ at }) => at >= since);
        let place = cursor === null ? (first === -1 ? desk.log.length : first) : Number(cursor);
        while (place < desk.log.length) {
          desk.fail();
          const edits = desk.log.slice(place, place + PAGE);
          place += edits.length;
          const ids = [...new Set(edits.map(({ id }) => id))].filter((id) => desk.#shows(id));
          yield { found: ids.map((id) => desk.found(id)), cursor: place satisfies Json };
        }
        desk.fail();
      },
      async fetch(id) {
        desk.fetches += 1;
        await pause();
        desk.fail();
        return desk.found(id);
      },
      close: async () => undefined,
    };
  }

  #shows(id: string): boolean {
    return this.#listsDeleted || !['deleted', 'spam'].includes(this.newest(id)?.state ?? '');
  }

  private fail(): void {
    const failure = this.failure();
    if (failure !== null) {
      throw failure;
    }
  }
}

/** Every version has words of its own, including something private; no part of an ineligible ticket may appear. */
function wordsOf({ id, state, version }: Edit): string {
  return state === 'solved' ? `How do I do ${id}, version ${version}? hush-${version}` : `never-${version}`;
}

/** Webhook without a signature; its body is the hint. */
export function testWebhook(name = 'desk'): Webhook {
  return {
    name,
    read: ({ body }) => JSON.parse(Buffer.from(body).toString('utf8')),
  };
}

type IngestionOptions = ConstructorParameters<typeof Ingestion>[0];

/** An ingestion of tests; without a writer, it sends nothing. */
export function createIngestion(over: Partial<IngestionOptions> & Pick<IngestionOptions, 'clock'>): Ingestion {
  return new Ingestion({
    sources: [],
    outbox: openMemoryStore().outbox('org_1', { items: 1000, bytes: 1e6 }),
    redactor: testRedactor,
    writer: null,
    settleDelay: 0,
    batch: { maxConversations: 50, maxBytes: 1e6 },
    // Non-zero, so that times are fractional, as with a real generator.
    random: () => 1e-7,
    events: {},
    ...over,
  });
}
