/** Creation of the configured sources, and of the ingestion of an organization from them. */
import type { OrganizationConfig } from '../config/config.ts';
import type { ConversationsConfig } from '../config/conversations.ts';
import type { Writer } from '../platform/client.ts';
import type { ConversationsProbe } from '../platform/conversations-probe.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import { type Note, recordedSite } from '../store/record.ts';
import type { Store } from '../store/store.ts';
import { Ingestion, type IngestionSource } from './ingestion.ts';
import type { ConversationEvents, Webhook } from './model/source.ts';
import type { PseudonymizeId } from './private-ids.ts';
import { redactionOptions } from './redact/options.ts';
import { RedactionThreads, THREADS } from './redact/redaction-threads.ts';
import { createConversationRedactor } from './redact/redactor.ts';
import { openDropFolder } from './sources/files/drop-folder.ts';
import { freshdeskWebhook, openFreshdesk } from './sources/freshdesk.ts';
import { githubWebhook, openGithub } from './sources/github.ts';
import { intercomWebhook, openIntercom } from './sources/intercom.ts';
import { standardWebhook } from './sources/own-format.ts';
import type { ProviderContext } from './sources/provider.ts';
import { openZendesk, zendeskWebhook } from './sources/zendesk.ts';

/** Dependencies of every source, in addition to its settings. */
export interface SourceContext extends Pick<ProviderContext, 'userAgent' | 'clock' | 'random'> {
  /** Opens the organization's note on a topic: state that a source keeps in addition to its cursor. */
  readonly note: (topic: string) => Note;
}

interface IngestionContext extends Pick<ProviderContext, 'clock' | 'random'> {
  readonly store: Pick<Store, 'note' | 'organization'>;
  readonly version: string;
  readonly outbox: Outbox;
  readonly pseudonymizeId: PseudonymizeId;
  /** Titles of the resources, whose words are not guessed to be names. */
  readonly titles: readonly string[];
  readonly events: ConversationEvents;
}

/**
 * Opens the ingestion of an organization. `sending`: threads redact, and the writer sends; without a writer, nothing is
 * sent. Null: it only keeps what webhooks bring. Throws ConfigError for an invalid redaction pattern.
 */
export function openIngestion(
  { id, conversations }: OrganizationConfig,
  { store, version, outbox, pseudonymizeId, titles, clock, random, events }: IngestionContext,
  sending: { readonly writer: Writer | null; readonly probe: ConversationsProbe } | null,
): Ingestion {
  const { site, settleDelay, batch } = conversations;
  const note = (topic: string) => store.note(`conversations/${id}/${topic}`);
  const redaction = redactionOptions(conversations.redact, titles);
  const onUnavailable = events.onThreadsUnavailable;
  return new Ingestion({
    sources: openSources(conversations, { note, userAgent: `octavo/${version}`, clock, random }),
    outbox,
    redactor: createConversationRedactor(redaction, pseudonymizeId),
    threads: sending === null ? undefined : new RedactionThreads({ redaction, threads: THREADS, clock, onUnavailable }),
    writer: sending?.writer ?? null,
    site: site === null ? null : () => recordedSite(store.organization(id), site),
    probe: sending?.probe,
    settleDelay,
    batch,
    clock,
    random,
    events,
  });
}

type SourceConfig = ConversationsConfig['sources'][number];
type SourceParts = Pick<IngestionSource, 'polling' | 'webhook' | 'watch'>;

/** Creates the configured sources without connecting to them. This is the only list of source types. */
export function openSources(config: ConversationsConfig, context: SourceContext): readonly IngestionSource[] {
  return config.sources.map((source) => ({
    name: source.name,
    every: source.pollInterval,
    since: source.since,
    ...openSource(source, { ...context, name: source.name }),
  }));
}

function openSource(source: SourceConfig, context: SourceContext & { readonly name: string }): SourceParts {
  const { name, clock } = context;
  const { zendesk, intercom, freshdesk, github, webhook, folder } = source;
  const signed = <T>(secret: T | undefined, make: (secret: T) => Webhook) =>
    secret === undefined ? null : make(secret);
  if (zendesk !== undefined) {
    return {
      polling: openZendesk({ ...zendesk, ...context, note: context.note(`tokens/${name}`) }),
      webhook: signed(zendesk.webhookSecret, (secret) => zendeskWebhook({ name, secret })),
    };
  }
  if (intercom !== undefined) {
    return {
      polling: openIntercom({ ...intercom, ...context }),
      webhook: signed(intercom.clientSecret, (secret) => intercomWebhook({ name, secret })),
    };
  }
  if (freshdesk !== undefined) {
    const { webhookHeader: header, webhookSecret } = freshdesk;
    return {
      polling: openFreshdesk({ ...freshdesk, ...context }),
      webhook: signed(webhookSecret, (secret) => freshdeskWebhook({ name, header, secret })),
    };
  }
  if (github !== undefined) {
    return {
      polling: openGithub({ ...github, ...context }),
      webhook: signed(github.webhookSecret, (secret) =>
        githubWebhook({ name, secret, repositories: github.repositories }),
      ),
    };
  }
  if (folder !== undefined) {
    const { path, account, afterRead, rejectDirectory = null, teamDomains, columns } = folder;
    const read = { teamDomains, columns };
    const polling = openDropFolder({
      name,
      account,
      folder: path,
      after: afterRead,
      rejects: rejectDirectory,
      clock,
      read,
    });
    return { polling, webhook: null, watch: (onNew) => polling.watch(onNew) };
  }
  return {
    polling: null,
    webhook: standardWebhook({ name, account: webhook?.account, secrets: webhook?.secrets ?? [] }),
  };
}
