import { createNames } from '../../clusters/read/spaces.ts';
import { ClusterAutomation } from '../../clusters/run/automation.ts';
import { type ClusterRequest, handleClusterRequest } from '../../clusters/run/control-api.ts';
import type { ClientObserver } from '../../clusters/run/session.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import { createTextRedaction } from '../../conversations/redact/text-redaction.ts';
import type { JsonObject } from '../../core/json.ts';
import { resolveManifestFolder } from '../../git/repository.ts';
import { kinds } from '../../kinds/registry.ts';
import { openDiskTree } from '../../manifests/files/disk-tree.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import type { Priority } from '../../queue/model/request.ts';
import { oneLine } from '../../server/cluster-log.ts';
import { recordedId } from '../../store/recorded-id.ts';
import { openSqliteStore } from '../../store/sqlite.ts';
import type { CommandContext } from '../cli/context.ts';
import { callDaemon, chooseState, type StateFlags } from '../cli/control-call.ts';
import { type PlatformSession, withPlatform } from '../cli/session.ts';

/**
 * Asks the daemon if one runs, otherwise opens the state file and asks the platform. Throws what `handleClusterRequest`
 * throws.
 */
export async function callClusters(
  request: ClusterRequest,
  flags: StateFlags,
  context: CommandContext,
): Promise<JsonObject> {
  const target = await chooseState(flags, context);
  const { config, organization, store } = target;
  return (
    (await callDaemon(target, { command: 'clusters', request })) ??
    withPlatform(config, organization, context, (session) =>
      answerAlone(organization, store, session, request, context),
    )
  );
}

async function answerAlone(
  organization: OrganizationConfig,
  path: string,
  { connection, signal }: PlatformSession,
  request: ClusterRequest,
  { clock, random, terminal }: CommandContext,
): Promise<JsonObject> {
  const store = openSqliteStore(path);
  const { site } = organization.conversations;
  const client = (priority: Priority, observer: ClientObserver) => ({
    organization: organization.id,
    priority,
    signal,
    ...observer,
  });
  try {
    const automation = new ClusterAutomation({
      config: organization.clusters,
      openReader: (priority, observer) => openReader(connection, client(priority, observer)),
      openWriter: (priority, observer) => openWriter(connection, client(priority, observer)),
      note: store.note(`clusters/${organization.id}`),
      names: createNames({ record: store.organization(organization.id), declared: manifestsOf(organization) }),
      site: site === null ? null : () => recordedId(store.organization(organization.id), 'site', site),
      clock,
      random,
      redaction: createTextRedaction(organization.conversations.redact),
      signal,
      events: { onTrouble: ({ message }) => terminal.err(`${oneLine(message)}\n`) },
    });
    return await handleClusterRequest(automation, request);
  } finally {
    await store.close();
  }
}

/** Null where they cannot be read: a repository is the daemon's to fetch. Without a source there are none. */
function manifestsOf({ source }: OrganizationConfig) {
  const directory = source?.directory;
  if (source === null) {
    return async () => new Map();
  }
  return directory === undefined
    ? null
    : async () => {
        resolveManifestFolder(directory);
        return (await createManifestLoader(kinds).load(openDiskTree(directory))).declared;
      };
}
