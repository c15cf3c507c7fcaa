/** Last applied state of an organization, decisions on its plans, and notes. */
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import type { Actor, ActorColumns } from './history.ts';
import { insertEvents, type NotificationEvent } from './notifications.ts';
import { insertNewRows, inTexts, type Sql, type SqlDatabase, upsertRows } from './sql/database.ts';

/** Last applied state of one resource. */
export interface RecordEntry {
  readonly address: string;
  readonly kind: string;
  /** Id on the platform; null if the resource has none. */
  readonly id: string | null;
  /** Declared fields, normalized. */
  readonly fields: JsonObject;
  /** True: not deleted until a commit that sets it to false was applied. See docs/concepts.md#ownership-and-deletion. */
  readonly protect: boolean;
  /** State that cannot be read back from the platform: content hashes, revisions. */
  readonly metadata: JsonObject;
}

/** Last applied commit, and the time in milliseconds since the epoch. */
interface AppliedHead {
  /** Null if the manifests were not in a repository. */
  readonly commit: string | null;
  readonly at: number;
}

/** Content of the record, which is the base of the next plan. */
export interface AppliedRecord {
  /** Null if nothing was ever applied. */
  readonly head: AppliedHead | null;
  /** Sorted by address. */
  readonly entries: readonly RecordEntry[];
}

/** Decision of a person on a plan with held changes. */
export interface PlanDecision {
  readonly checksum: string;
  readonly verdict: 'approved' | 'rejected';
  readonly by: Actor;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Last applied state of one organization, and the decisions on its plans. Data is on disk when a promise resolves, and survives a
 * killed process. Every method throws StoreError if the state cannot be used.
 */
export type OrganizationRecord = ReturnType<typeof openRecord>;

/** Optional state for one topic: losing it costs time, but never ownership. */
export interface Note {
  /** Returns null if nothing was written. Throws StoreError if the state cannot be used, like `write`. */
  read(): Promise<Json>;
  write(value: Json): Promise<void>;
}

/** Opens the note of a topic. */
export function openNote(database: SqlDatabase, topic: string): Note {
  return {
    read: () => database.read((sql) => readNote(sql, topic)),
    write: (value) => database.write(`note/${topic}`, (sql) => writeNote(sql, topic, value)),
  };
}

/** Replaces a note with the result of `change`, in one transaction. `change` gets null if nothing was written. */
export function updateNote(database: SqlDatabase, topic: string, change: (value: Json) => Json): Promise<void> {
  return database.write(`note/${topic}`, async (sql) => writeNote(sql, topic, change(await readNote(sql, topic))));
}

async function readNote(sql: Sql, topic: string): Promise<Json> {
  const row = await sql.get('SELECT value FROM note WHERE topic = ?', topic);
  return row === undefined ? null : sql.parse(row.value);
}

function writeNote(sql: Sql, topic: string, value: Json): Promise<void> {
  return upsertRows(sql, { table: 'note', key: ['topic'], columns: ['value'], rows: [[topic, JSON.stringify(value)]] });
}

/** Opens the record of an organization. */
export function openRecord(database: SqlDatabase, organization: string) {
  return {
    read: (): Promise<AppliedRecord> =>
      database.read(async (sql) => {
        const head = await sql.get<AppliedHead>(
          'SELECT commit_id AS "commit", at FROM head WHERE organization = ?',
          organization,
        );
        const entries = await sql.all<Omit<RecordEntry, 'fields' | 'protect' | 'metadata'> & EntryColumns>(
          'SELECT address, kind, id, fields, protect, metadata FROM entry WHERE organization = ? ORDER BY address',
          organization,
        );
        return {
          head: head ?? null,
          entries: entries.map((entry) => ({
            ...entry,
            fields: parseObject(sql, entry.fields),
            protect: entry.protect === 1,
            metadata: parseObject(sql, entry.metadata),
          })),
        };
      }),
    /** Adds entries, or replaces those with the same address, in one transaction. */
    put: (entries: readonly RecordEntry[]): Promise<void> =>
      database.write(organization, (sql) =>
        upsertRows(sql, {
          table: 'entry',
          key: ['organization', 'address'],
          columns: ['kind', 'id', 'fields', 'protect', 'metadata'],
          rows: entries.map(({ address, kind, id, fields, protect, metadata }) => [
            ...[organization, address, kind, id, JSON.stringify(fields), protect ? 1 : 0, JSON.stringify(metadata)],
          ]),
        }),
      ),
    /** Removes entries; unknown addresses are ignored. */
    remove: (addresses: readonly string[]): Promise<void> =>
      database.write(organization, async (sql) => {
        await sql.run(
          `DELETE FROM entry WHERE organization = ? AND ${inTexts(sql, 'address')}`,
          ...[organization, JSON.stringify(addresses)],
        );
      }),
    /**
     * Moves the head and removes the decisions on the plans (by checksum) that were applied, in one transaction. An approval
     * is used once; unknown checksums are ignored.
     */
    moveHead: ({ commit, at }: AppliedHead, served: readonly string[]): Promise<void> =>
      database.write(organization, async (sql) => {
        const rows = [[organization, commit, Math.round(at)]];
        await upsertRows(sql, { table: 'head', key: ['organization'], columns: ['commit_id', 'at'], rows });
        await sql.run(
          `DELETE FROM decision WHERE organization = ? AND ${inTexts(sql, 'checksum')}`,
          ...[organization, JSON.stringify(served)],
        );
      }),
    /** Returns the decisions on plans that are not applied yet, oldest first. */
    decisions: (): Promise<readonly PlanDecision[]> =>
      database.read(async (sql) => {
        const rows = await sql.all<Omit<PlanDecision, 'by'> & ActorColumns>(
          `SELECT checksum, verdict, actor, method, reason, at FROM decision WHERE organization = ?
            ORDER BY at, checksum, method, actor`,
          organization,
        );
        return rows.map(({ checksum, verdict, actor, method, ...rest }) => {
          return { checksum, verdict, by: { name: actor, method }, ...rest };
        });
      }),
    /**
     * Records a decision. It removes the decisions on the same plan with the other verdict, by anyone; a second one by the
     * same person changes nothing. Adds the events of the decision in the same transaction.
     */
    decide: (
      { checksum, verdict, by, reason, at }: PlanDecision,
      events?: readonly NotificationEvent[],
    ): Promise<void> =>
      database.write(organization, async (sql) => {
        await sql.run(
          'DELETE FROM decision WHERE organization = ? AND checksum = ? AND verdict <> ?',
          ...[organization, checksum, verdict],
        );
        await insertNewRows(sql, {
          table: 'decision',
          key: ['organization', 'checksum', 'method', 'actor'],
          columns: ['verdict', 'reason', 'at'],
          rows: [[organization, checksum, by.method, by.name, verdict, reason, Math.round(at)]],
        });
        await insertEvents(sql, events ?? []);
      }),
  };
}

interface EntryColumns {
  readonly fields: string;
  readonly protect: number;
  readonly metadata: string;
}

function parseObject(sql: Sql, text: string): JsonObject {
  const value = sql.parse(text);
  if (!isObject(value)) {
    throw sql.damagedError();
  }
  return value as JsonObject;
}

/**
 * Returns the id on the platform for the name of a site in the settings: that of the site that was applied under this
 * key, otherwise the name itself. Throws StoreError.
 */
export async function recordedSite(record: Pick<OrganizationRecord, 'read'>, name: string): Promise<string> {
  const { entries } = await record.read();
  return entries.find(({ address }) => address === `site/${name}`)?.id ?? name;
}

/** Returns the keys and titles of the resources that were applied, except those of people. Throws StoreError. */
export async function recordedTitles(record: Pick<OrganizationRecord, 'read'>): Promise<readonly string[]> {
  const { entries } = await record.read();
  return entries
    .filter(({ kind }) => kind !== 'member')
    .flatMap(({ address, fields }) => [
      address.slice(address.indexOf('/') + 1),
      ...(typeof fields.title === 'string' ? [fields.title] : []),
    ]);
}
