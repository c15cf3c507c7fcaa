import { EXIT, type ExitCode } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { oneLine } from '../../server/cluster-log.ts';
import type { CommandContext } from '../cli/context.ts';
import type { StateFlags } from '../cli/control-call.ts';
import { callClusters } from './control.ts';

/** `octavo clusters list`. */
export async function listClustersCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const answer = await callClusters({ subcommand: 'list' }, flags, context);
  if (flags.format === 'json') {
    context.terminal.out(`${JSON.stringify({ format: 'octavo.clusters/2', ...answer }, null, 2)}\n`);
    return EXIT.done;
  }
  const clusters = (answer.clusters ?? []) as readonly JsonObject[];
  context.terminal.out(clusters.length === 0 ? 'No issue clusters.\n' : clusters.map(clusterText).join('\n'));
  return EXIT.done;
}

/** Formats a cluster: its numbers, whether a change request would be opened and where, and existing change requests. */
function clusterText(cluster: JsonObject): string {
  const { id, label, impact, issues, conversations, wouldOpen, reason, space, routeReason } = cluster;
  const requests = (cluster.changeRequests ?? []) as readonly JsonObject[];
  const lines = [
    `${line(id)}  ${line(label)}`,
    `  ${line(impact ?? 'impact unknown')}, ${line(issues)} issues, ${line(conversations)} conversations`,
    ...(wouldOpen === true
      ? [`  opens in ${spaceText(space)}: ${line(routeReason)}`]
      : [`  not opened: ${line(reason)}`]),
    ...requests.map(({ id: request, status, url }) => `  ${line(status)}: ${line(url ?? request)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function spaceText(space: Json | undefined): string {
  const { id, key, title } = (space ?? {}) as JsonObject;
  return `${line(title)} (${line(key ?? id)})`;
}

/** Escapes text from the platform for the terminal. */
function line(value: Json | undefined): string {
  return oneLine(String(value ?? ''));
}

export interface OpenStateFlags extends StateFlags {
  readonly space?: string;
  readonly dryRun?: boolean;
}

/** `octavo clusters open ID`. */
export async function openClusterCommand(
  cluster: string,
  flags: OpenStateFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const request = { subcommand: 'open', cluster, space: flags.space ?? null, dryRun: flags.dryRun === true } as const;
  const answer = await callClusters(request, flags, context);
  if (flags.format === 'json') {
    context.terminal.out(`${JSON.stringify({ format: 'octavo.cluster/2', ...answer }, null, 2)}\n`);
  } else {
    context.terminal.out(`${openedText(answer)}\n`);
  }
  return answer.outcome === 'created' ? EXIT.failed : EXIT.done;
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

/** `octavo clusters mute ID` and `unmute ID`. */
export async function muteClusterCommand(
  cluster: string,
  muted: boolean,
  flags: OpenStateFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const dryRun = flags.dryRun === true;
  const answer = await callClusters({ subcommand: 'mute', cluster, muted, dryRun }, flags, context);
  if (flags.format === 'json') {
    context.terminal.out(`${JSON.stringify({ format: 'octavo.cluster/2', ...answer }, null, 2)}\n`);
    return EXIT.done;
  }
  const state = muted ? 'muted' : 'unmuted';
  const words = answer.changed !== true ? `is already ${state}` : dryRun ? `would be ${state}` : `is now ${state}`;
  context.terminal.out(`${line(answer.cluster)} (${line(answer.label)}) ${words}\n`);
  return EXIT.done;
}
