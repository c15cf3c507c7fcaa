/** Weekly digests: what happened in an organization, from its history. */
import { z } from 'zod';
import type { OwnRequest } from '../../clusters/read/cluster-store.ts';
import { cronFiring } from '../../config/model/cron.ts';
import type { NotificationsConfig } from '../../config/notifications.ts';
import { type WeeklyDigest, writeDigest } from '../../notify/messages/weekly-digest.ts';
import { type PassRecord, RETENTION } from '../../store/history.ts';
import type { NotificationEvent } from '../../store/notifications.ts';
import type { Note } from '../../store/store.ts';
import type { Backend, OrganizationState } from '../../views/model/backend.ts';
import { organizationPath } from '../../views/model/paths.ts';

/** Rows of the store that a digest is made from. */
interface DigestRows {
  readonly passes: readonly PassRecord[];
  readonly requests: readonly Pick<OwnRequest, 'at' | 'state'>[];
  /** Conversations that were ever sent. */
  readonly sent: number;
}

const totals = z.object({ sent: z.number(), closed: z.number() });
/** Numbers that only grow, as of the last digest. */
type DigestTotals = z.output<typeof totals>;
const memory = z.object({ at: z.number(), totals: z.record(z.string(), totals) });

/** Longest time that a digest is about. */
const WEEK = 7 * 24 * 3_600_000;

/** Sums up the rows after `from`, in milliseconds since the epoch. `before`: totals at that time. */
function sumWeek({ passes, requests, sent }: DigestRows, before: DigestTotals, from: number): WeeklyDigest {
  const written = passes.filter(({ endedAt, counts }) => endedAt > from && (counts.applied ?? 0) > 0);
  const sum = (name: string) => written.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);
  const declared = written.filter(({ counts }) => (counts.applied ?? 0) > (counts.reverted ?? 0));
  const commits = new Map(declared.map(({ commit, checksum, author }) => [commit ?? checksum, author]));
  const authors = new Map<string, number>();
  for (const author of commits.values()) {
    if (author !== null) {
      authors.set(author, (authors.get(author) ?? 0) + 1);
    }
  }
  return {
    ...{ changes: sum('applied') - sum('reverted'), commits: commits.size, authors, reverted: sum('reverted') },
    conversations: Math.max(0, sent - before.sent),
    opened: requests.filter(({ at, state }) => at > from && state !== 'begun').length,
    closed: Math.max(0, closedOf(requests) - before.closed),
  };
}

function closedOf(requests: DigestRows['requests']): number {
  return requests.filter(({ state }) => state === 'merged' || state === 'archived').length;
}

export interface DigestOptions {
  readonly backend: Backend;
  readonly config: Pick<NotificationsConfig, 'digest' | 'timezone' | 'routes'>;
  readonly note: Note;
  readonly addEvents: (events: readonly NotificationEvent[]) => Promise<void>;
}

/** Writes the digests of all organizations that a route asks for, when they are due. One that was missed is written later. */
export class WeeklyDigests {
  readonly #options: DigestOptions;
  /** Time of the next digests; null: not known. */
  #next: number | null = null;
  #isWriting = false;

  constructor(options: DigestOptions) {
    this.#options = options;
  }

  /** Writes what is due. Throws StoreError. */
  async write(now: number): Promise<void> {
    const wanted = this.#wanted();
    if (wanted.length === 0 || this.#isWriting || (this.#next !== null && now < this.#next)) {
      return;
    }
    this.#isWriting = true;
    try {
      await this.#writeDue(wanted, now);
      const { digest, timezone } = this.#options.config;
      this.#next = cronFiring(digest, 'next', now, timezone);
    } finally {
      this.#isWriting = false;
    }
  }

  async #writeDue(wanted: readonly OrganizationState[], now: number): Promise<void> {
    const { config, note, addEvents } = this.#options;
    const due = cronFiring(config.digest, 'prev', now + 1, config.timezone);
    const stored = memory.safeParse(await note.read());
    const last = stored.success ? stored.data : null;
    if (due === null || (last !== null && last.at >= due)) {
      return;
    }
    const found: Record<string, DigestTotals> = {};
    const events: NotificationEvent[] = [];
    for (const state of wanted) {
      const rows = await rowsOf(state);
      const before = last?.totals[state.id];
      found[state.id] = { sent: rows.sent, closed: closedOf(rows.requests) };
      if (before !== undefined) {
        const from = Math.max(last?.at ?? 0, due - WEEK);
        events.push(digestEvent(state.id, due, writeDigest(sumWeek(rows, before, from))));
      }
    }
    // The first time, only the totals are stored: there is nothing to compare them with.
    await addEvents(events);
    await note.write({ at: due, totals: found });
  }

  #wanted(): readonly OrganizationState[] {
    const routes = this.#options.config.routes.filter(({ codes }) => codes?.includes('weekly-digest') ?? false);
    return this.#options.backend
      .organizations()
      .filter(({ id }) => routes.some(({ organizations }) => organizations?.includes(id) ?? true));
  }
}

function digestEvent(
  organization: string,
  at: number,
  text: Pick<NotificationEvent, 'summary' | 'details'>,
): NotificationEvent {
  const id = `weekly-digest/${organization}/${new Date(at).toISOString()}`;
  return { id, code: 'weekly-digest', organization, at, ...text, path: organizationPath(organization) };
}

async function rowsOf({ history, clusters, conversations, config }: OrganizationState): Promise<DigestRows> {
  const hasSources = config.conversations.sources.length > 0;
  const sources = hasSources ? (await conversations.status()).sources : [];
  return {
    passes: await history.passes({ limit: RETENTION.passes }),
    requests: await clusters.changeRequests(),
    sent: sources.reduce((sum, { counts }) => sum + (counts.sent ?? 0), 0),
  };
}
