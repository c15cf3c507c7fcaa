// Records and tables of integrations.

import type { Json, JsonObject } from '../../core/json.ts';
import { type Entity, IndexedTable } from '../model/table.ts';
import type {
  InstallationSelection,
  InstallationStatus,
  IntegrationCategory,
  IntegrationScope,
  IntegrationTarget,
  IntegrationVisibility,
  LogLevel,
} from '../model/vocabulary.ts';

/** One property of an integration's configuration. Source: docs/platform-notes.md#integrations */
export interface ConfigurationProperty {
  readonly type: 'string' | 'number' | 'boolean' | 'button';
  readonly default?: Json | undefined;
  readonly enum?: readonly string[] | undefined;
}

/** Schema of a configuration: properties, or a component of the integration that asks for them. */
export interface ConfigurationSchema {
  readonly properties?: Readonly<Record<string, ConfigurationProperty>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly componentId?: string | undefined;
}

/** A block of an integration, as it was published. */
export interface IntegrationBlock {
  readonly id: string;
  readonly title: string;
  readonly urlUnfurl?: readonly string[] | undefined;
}

/** A published integration. Its `id` is its name. */
export interface IntegrationRecord extends Entity {
  /** Owner: the organization that it was first published for. */
  readonly organization: string;
  /** Counts from 1. */
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly summary?: string | undefined;
  /** Base64. */
  readonly icon?: string | undefined;
  /** Base64. */
  readonly previewImages: readonly string[];
  readonly visibility: IntegrationVisibility;
  readonly target: IntegrationTarget;
  readonly scopes: readonly IntegrationScope[];
  readonly categories: readonly IntegrationCategory[];
  readonly blocks?: readonly IntegrationBlock[] | undefined;
  readonly contentSources?: readonly JsonObject[] | undefined;
  readonly externalLinks: readonly JsonObject[];
  readonly configurations?: Readonly<Partial<Record<'account' | 'space' | 'site', ConfigurationSchema>>> | undefined;
  readonly contentSecurityPolicy?: Json | undefined;
  /** Never shown. */
  readonly script: string;
  /** Never shown. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** An integration in an organization. Its status follows from its configuration. */
export interface InstallationRecord extends Entity {
  readonly integration: string;
  readonly organization: string;
  readonly spaceSelection: InstallationSelection;
  readonly siteSelection: InstallationSelection;
  readonly configuration: JsonObject;
  readonly externalIds: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Payload of an integration event, without its id. Source: docs/platform-notes.md#integration-events */
export type EventPayload =
  | {
      readonly type: 'installation_setup';
      readonly installationId: string;
      readonly status: InstallationStatus;
      readonly previous?: { readonly status: InstallationStatus; readonly configuration: JsonObject } | undefined;
    }
  | {
      readonly type: 'installation_deleted';
      readonly installationId: string;
      readonly previous: { readonly configuration: JsonObject };
    }
  | {
      readonly type: 'space_content_updated';
      readonly installationId: string;
      readonly spaceId: string;
      readonly revisionId: string;
    };

/** One line of an event's trace. */
export interface EventLog {
  readonly message: string;
  readonly timestamp: string;
  readonly level: LogLevel;
}

export interface IntegrationEventRecord extends Entity {
  readonly integration: string;
  readonly installation: string;
  readonly createdAt: string;
  readonly payload: EventPayload;
  readonly logs: readonly EventLog[];
}

/** A token of an integration, or a temporary one of an installation of it. Its `id` is the token. */
export interface IntegrationTokenRecord extends Entity {
  readonly integration: string;
  readonly installation?: string | undefined;
  /** Milliseconds since the epoch; absent if it does not expire. */
  readonly expiresAt?: number | undefined;
}

/** Tables of integrations, installations, events and tokens. */
export function integrationTables(changed: () => void) {
  return {
    integrations: new IndexedTable<IntegrationRecord>({}, changed),
    installations: new IndexedTable<InstallationRecord, 'integration' | 'organization'>(
      { integration: (record) => record.integration, organization: (record) => record.organization },
      changed,
    ),
    integrationEvents: new IndexedTable<IntegrationEventRecord, 'integration'>(
      { integration: (record) => record.integration },
      changed,
    ),
    integrationTokens: new IndexedTable<IntegrationTokenRecord, 'integration' | 'installation'>(
      { integration: (record) => record.integration, installation: (record) => record.installation },
      changed,
    ),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof integrationTables> {}
}
