/** Converts rows of the tables of the history. */
import type { Json } from '../core/json.ts';
import type { Actor, NewResourceChange, PassCounts, PassRecord } from './history.ts';
import type { SqlRow } from './sql/database.ts';

export function toPass(row: SqlRow, parse: (text: unknown) => Json): PassRecord {
  return {
    number: Number(row.number),
    trigger: String(row.cause),
    commit: textOrNull(row.commit_id),
    subject: String(row.subject),
    author: textOrNull(row.author),
    outcome: row.outcome as PassRecord['outcome'],
    checksum: textOrNull(row.checksum),
    counts: parse(row.counts) as PassCounts,
    reads: Number(row.reads),
    writes: Number(row.writes),
    refused: Number(row.refused),
    milliseconds: Number(row.milliseconds),
    error: textOrNull(row.error),
    firstEndedAt: Number(row.first_at),
    endedAt: Number(row.at),
    times: Number(row.times),
    hasPlan: row.has_plan === 1,
  };
}

export function toChange(row: SqlRow): NewResourceChange {
  return {
    address: String(row.address),
    action: String(row.action),
    status: String(row.status),
    error: textOrNull(row.error),
  };
}

export function toActor(row: SqlRow): Actor {
  return { name: String(row.actor), method: row.method as Actor['method'] };
}

export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
