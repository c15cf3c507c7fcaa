/** Commands about issue clusters, answered by the daemon, or from the store if none runs. */

import { type ClusterRequest, handleClusterRequest } from '../clusters/control-api.ts';
import { createNames } from '../clusters/route.ts';
import { ClusterAutomation } from '../clusters/run.ts';
import type { ClientObserver } from '../clusters/session.ts';
import type { OrganizationConfig } from '../config/config.ts';
import { createTextRedaction } from '../conversations/redact/text-redaction.ts';
import { EXIT, type ExitCode } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { resolveManifestFolder } from '../git/repository.ts';
import { kinds } from '../kinds/registry.ts';
import { openDiskTree } from '../manifests/disk-tree.ts';
import { createManifestLoader } from '../manifests/loader.ts';
import { openReader, openWriter } from '../platform/client.ts';
import type { Priority } from '../queue/request.ts';
import { oneLine } from '../server/event-logs.ts';
import { recordedSite } from '../store/record.ts';
import type { OrganizationTarget } from './cli/config.ts';
import { type CommandContext, printResult } from './cli/context.ts';
import { askIfRunning, chooseState, openUnusedStore, type StateFlags } from './cli/control-call.ts';
import { type PlatformSession, withPlatform } from './cli/session.ts';

interface ClusterFlags extends StateFlags {
  readonly space?: string;
  readonly dryRun?: boolean;
  readonly reason?: string;
  /** Milliseconds. */
  readonly for?: number;
}

/** The subcommands of `octavo clusters`. */
export const clusterCommands = {
  async list(flags: ClusterFlags, context: CommandContext): Promise<ExitCode> {
    const answer = await callClusters({ subcommand: 'list' }, flags, context);
    const clusters = (answer.clusters ?? []) as readonly JsonObject[];
    const text = clusters.length === 0 ? 'No issue clusters.' : clusters.map(clusterText).join('\n\n');
    printResult(context, flags.format, { format: 'octavo.clusters/2', ...answer }, [text]);
    return EXIT.done;
  },

  async open(cluster: string, flags: ClusterFlags, context: CommandContext): Promise<ExitCode> {
    const { space = null, dryRun = false } = flags;
    const answer = await callClusters({ subcommand: 'open', cluster, space, dryRun }, flags, context);
    printResult(context, flags.format, { format: 'octavo.cluster/2', ...answer }, [openedText(answer)]);
    return answer.outcome === 'created' ? EXIT.failed : EXIT.done;
  },

  mute: (cluster: string, flags: ClusterFlags, context: CommandContext) => mute(cluster, true, flags, context),

  unmute: (cluster: string, flags: ClusterFlags, context: CommandContext) => mute(cluster, false, flags, context),
};

async function mute(cluster: string, muted: boolean, flags: ClusterFlags, context: CommandContext): Promise<ExitCode> {
  const { dryRun = false, reason = '' } = flags;
  const until = flags.for === undefined ? null : context.clock.now() + flags.for;
  const answer = await callClusters({ subcommand: 'mute', cluster, muted, reason, until, dryRun }, flags, context);
  const end = muted && until !== null ? ` until ${new Date(until).toISOString()}` : '';
  const state = `${muted ? 'muted' : 'unmuted'}${end}`;
  const words = answer.changed !== true ? `is already ${state}` : dryRun ? `would be ${state}` : `is now ${state}`;
  const text = `${line(answer.cluster)} (${line(answer.label)}) ${words}`;
  printResult(context, flags.format, { format: 'octavo.cluster/2', ...answer }, [text]);
  return EXIT.done;
}

/** Formats a cluster: its numbers, whether a change request would be opened and where, and existing change requests. */
function clusterText(cluster: JsonObject): string {
  const { id, label, impact, issues, conversations, wouldOpen, reason, space, routeReason } = cluster;
  const requests = (cluster.changeRequests ?? []) as readonly JsonObject[];
  return [
    `${line(id)}  ${line(label)}`,
    `  ${line(impact ?? 'impact unknown')}, ${line(issues)} issues, ${line(conversations)} conversations`,
    wouldOpen === true ? `  opens in ${spaceText(space)}: ${line(routeReason)}` : `  not opened: ${line(reason)}`,
    ...requests.map(({ id: request, status, url }) => `  ${line(status)}: ${line(url ?? request)}`),
  ].join('\n');
}

function spaceText(space: Json | undefined): string {
  const { id, key, title } = (space ?? {}) as JsonObject;
  return `${line(title)} (${line(key ?? id)})`;
}

/** Escapes text from the platform for the terminal. */
function line(value: Json | undefined): string {
  return oneLine(String(value ?? ''));
}

function openedText(answer: JsonObject): string {
  const { outcome, cluster, space, subject, reason, routeReason, status, url, changeRequest } = answer;
  const request = line(url ?? changeRequest);
  switch (outcome) {
    case 'opened':
      return `Opened a change request for ${line(cluster)} in ${spaceText(space)}: ${request}`;
    case 'would-open':
      return `Would open ${JSON.stringify(line(subject))} in ${spaceText(space)}: ${line(routeReason)}`;
    case 'exists':
      return `${line(cluster)} already has a change request (${line(status)}): ${request}`;
    case 'yielded':
      return `Not opened: ${line(reason)}${request === '' ? '' : `: ${request}`}`;
    default:
      return `Created but not open yet; the next run of the daemon continues${request === '' ? '' : `: ${request}`}`;
  }
}

/**
 * Asks the daemon if one runs, otherwise opens the state file and asks the platform. Throws what `handleClusterRequest`
 * throws.
 */
async function callClusters(request: ClusterRequest, flags: StateFlags, context: CommandContext): Promise<JsonObject> {
  const target = await chooseState(flags, context);
  const answer = await askIfRunning(target, { command: 'clusters', request }, context);
  return answer ?? withPlatform(target, context, (session) => answerAlone(target, session, request, context));
}

async function answerAlone(
  { config, organization }: OrganizationTarget,
  { connection, signal }: PlatformSession,
  request: ClusterRequest,
  { clock, random, terminal }: CommandContext,
): Promise<JsonObject> {
  const store = await openUnusedStore(config.store, { clock, random });
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
      site: site === null ? null : () => recordedSite(store.organization(organization.id), site),
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
