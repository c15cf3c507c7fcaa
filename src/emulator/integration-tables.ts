import type {
  InstallationRecord,
  IntegrationEventRecord,
  IntegrationRecord,
  IntegrationTokenRecord,
} from './integration-records.ts';
import { Table } from './table.ts';

/** Integrations with what belongs to them. */
export function integrationTables(changed: () => void) {
  return {
    integrations: new Table<IntegrationRecord>({}, changed),
    installations: new Table<InstallationRecord, 'integration' | 'organization'>(
      { integration: (record) => record.integration, organization: (record) => record.organization },
      changed,
    ),
    integrationEvents: new Table<IntegrationEventRecord, 'integration'>(
      { integration: (record) => record.integration },
      changed,
    ),
    integrationTokens: new Table<IntegrationTokenRecord, 'integration' | 'installation'>(
      { integration: (record) => record.integration, installation: (record) => record.installation },
      changed,
    ),
  };
}
