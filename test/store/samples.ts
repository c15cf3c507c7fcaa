/** Values that the tests of stores write, with what matters to a test over them. */
import type { NewAuditEntry, NewPass } from '../../src/store/history.ts';
import type { Deposit, NewContent } from '../../src/store/outbox/tables.ts';
import type { RecordEntry } from '../../src/store/record.ts';

export const ANA = { name: 'ana@example.com', method: 'oidc' } as const;

export const recordEntry = (address: string, over: Partial<RecordEntry> = {}): RecordEntry => ({
  ...{ address, kind: address.split('/')[0] ?? '', id: 'id_1', fields: {}, protect: false, metadata: {} },
  ...over,
});

export const pass = (endedAt: number, over: Partial<NewPass> = {}): NewPass => ({
  ...{ trigger: 'schedule', commit: 'c1', subject: 'Add "docs" <b>', author: 'ana@example.com', outcome: 'done' },
  ...{ checksum: 'sha256:1', counts: {}, reads: 3, writes: 0, refused: 0, milliseconds: 12.5, error: null, endedAt },
  ...{ changes: [], plan: null },
  ...over,
});

export const auditEntry = (over: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  ...{ at: 5, actor: ANA, action: 'approve', subject: '', reason: '', outcome: 'done', detail: '' },
  ...over,
});

export const content = (key: string, version = 1, over: Partial<NewContent> = {}): NewContent => ({
  ...{ kind: 'content', key, hash: `${key}#${version}`, redactor: '1', payload: JSON.stringify({ key, version }) },
  notBefore: null,
  ...over,
});

export const deposit = (entries: Deposit['entries'], over: Partial<Deposit> = {}): Deposit => ({
  ...{ source: 'desk', at: 100, entries, counts: {} },
  ...over,
});
