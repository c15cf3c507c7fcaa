// Records and tables of spaces and collections.

import { IndexedTable, organizationKey, type Ranked } from '../model/table.ts';
import type { EditMode, Role, SpaceLanguage } from '../model/vocabulary.ts';
import type { MergeRules } from '../organizations/records.ts';

export type DefaultLevel = Role | 'inherit' | null;

export interface CollectionRecord extends Ranked {
  readonly organization: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly parent?: string | undefined;
  readonly defaultLevel: DefaultLevel;
}

export interface SpaceRecord extends Ranked {
  readonly organization: string;
  readonly title: string;
  readonly emoji?: string | undefined;
  readonly icon?: string | undefined;
  readonly parent?: string | undefined;
  readonly language?: SpaceLanguage | undefined;
  readonly editMode: EditMode;
  readonly defaultLevel: DefaultLevel;
  readonly mergeRules: MergeRules;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt?: string | undefined;
  readonly revision: string;
  readonly variables?: Variables | undefined;
}

/** Index key of the parent: its collection, otherwise its organization. Deleted spaces have none. */
function parentKey(record: {
  readonly organization: string;
  readonly parent?: string | undefined;
  readonly deletedAt?: string | undefined;
}): string | undefined {
  return record.deletedAt === undefined ? (record.parent ?? record.organization) : undefined;
}

/** Tables of spaces and collections. */
export function spaceTables(changed: () => void) {
  return {
    collections: new IndexedTable<CollectionRecord, 'organization' | 'parent'>(
      { organization: organizationKey, parent: parentKey },
      changed,
    ),
    spaces: new IndexedTable<SpaceRecord, 'organization' | 'parent'>(
      {
        organization: (space) => (space.deletedAt === undefined ? space.organization : undefined),
        parent: parentKey,
      },
      changed,
    ),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof spaceTables> {}
}

export type Variables = Readonly<Record<string, string>>;
