/** States of organizations, which their owners write for the pages of other replicas. See docs/fleet.md#commands. */
import { inTexts, type SqlDatabase, upsertRows } from './sql/database.ts';

/** Version of a part of an organization's state. Parts with the same hash have the same content. */
interface StateVersion {
  readonly organization: string;
  readonly part: string;
  readonly hash: string;
  /** Epoch of the owner that wrote it. */
  readonly epoch: number;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
}

/** A part of an organization's state, as JSON text. */
export interface StatePart {
  readonly part: string;
  readonly hash: string;
  readonly content: string;
}

export interface StateChange {
  readonly epoch: number;
  readonly at: number;
  /** Parts that are new or different. */
  readonly parts: readonly StatePart[];
  /** Names of parts that do not exist any more. */
  readonly removed: readonly string[];
}

/** States of all organizations. Every method throws StoreError if the state cannot be used. */
export type OrganizationStates = ReturnType<typeof openOrganizationStates>;

const VERSION = 'SELECT organization, part, hash, epoch, at FROM organization_state';

/** Opens the states of a database. */
export function openOrganizationStates(database: SqlDatabase) {
  return {
    /** Writes the parts that have changed, in one transaction. */
    write: (organization: string, { epoch, at, parts, removed }: StateChange): Promise<void> =>
      database.write(`state/${organization}`, async (sql) => {
        await upsertRows(sql, {
          table: 'organization_state',
          key: ['organization', 'part'],
          columns: ['hash', 'epoch', 'at', 'content'],
          rows: parts.map(({ part, hash, content }) => [organization, part, hash, epoch, at, content]),
        });
        if (removed.length > 0) {
          await sql.run(
            `DELETE FROM organization_state WHERE organization = ? AND ${inTexts(sql, 'part')}`,
            ...[organization, JSON.stringify(removed)],
          );
        }
      }),
    /** Returns the versions of all parts of an organization, by part. */
    versions: (organization: string): Promise<readonly StateVersion[]> =>
      database.read((sql) => sql.all(`${VERSION} WHERE organization = ? ORDER BY part`, organization)),
    /** Returns the versions of these parts of all organizations, by organization and part. */
    allVersions: (parts: readonly string[]): Promise<readonly StateVersion[]> =>
      database.read((sql) =>
        sql.all(`${VERSION} WHERE ${inTexts(sql, 'part')} ORDER BY organization, part`, JSON.stringify(parts)),
      ),
    /**
     * Returns these parts of these organizations, by organization and part, as they are at one time. Those that do not exist
     * are left out, and those in `known`: `organization/part/hash`.
     */
    read: (
      organizations: readonly string[],
      parts: readonly string[],
      known: readonly string[] = [],
    ): Promise<readonly (StatePart & { readonly organization: string })[]> =>
      database.read((sql) =>
        sql.all(
          `SELECT organization, part, hash, content FROM organization_state
            WHERE ${inTexts(sql, 'organization')} AND ${inTexts(sql, 'part')}
            AND NOT (${inTexts(sql, "organization || '/' || part || '/' || hash")}) ORDER BY organization, part`,
          ...[organizations, parts, known].map((texts) => JSON.stringify(texts)),
        ),
      ),
  };
}
