/** Command about the fleet of the running daemon. */
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import { configurationDetail, configurationHead, PARTIAL_EFFECT } from '../../web/model/configuration.ts';
import type { ReplicasView } from '../../web/pages/replicas.ts';
import { VIEWS } from '../cli/answers.ts';
import type { CommandContext } from '../cli/context.ts';
import { line, openViews, print, type ViewFlags } from './views.ts';

/**
 * Prints the replicas, the organizations without one, and invalid configurations. Returns 1 if there are such organizations or
 * configurations, or if the database fails.
 */
export async function fleetStatusCommand(flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const { load } = await openViews(flags, context);
  const view = await load('/replicas', VIEWS.replicas);
  print(view, flags, context, () => [
    view.sentence,
    ...replicaLines(view),
    ...unownedLines(view),
    ...configurationLines(view),
  ]);
  const isFine = view.unownedTotal === 0 && view.database?.state !== 'failing' && view.configuration.length === 0;
  return isFine ? EXIT.done : EXIT.failed;
}

function configurationLines({ configuration }: ReplicasView): readonly string[] {
  return configuration.map((each) =>
    line([
      `${configurationHead(each)} since ${each.since}:`,
      `${configurationDetail(each)};`,
      each.isPartial ? PARTIAL_EFFECT : `still running with the configuration of ${each.usedSince}`,
    ]),
  );
}

function replicaLines({ replicas }: ReplicasView): readonly string[] {
  return replicas.map(({ id, address, state, organizations, weight, version, startedAt, seenAt, isThis }) =>
    line([
      ...[id, `(${address})`, state, counted(organizations, 'organization'), `weight ${weight}`, `version ${version}`],
      ...[`started ${startedAt}`, `seen ${seenAt}`, isThis ? '(this replica)' : ''],
    ]),
  );
}

function unownedLines({ unowned, unownedTotal }: ReplicasView): readonly string[] {
  const more = unownedTotal - unowned.length;
  return [
    ...unowned.map(({ organization, seconds }) =>
      line([`${organization}: no replica`, seconds === null ? '' : `for ${spanWords(seconds * 1000)}`]),
    ),
    ...(more === 0 ? [] : [`not shown: ${counted(more, 'more organization')} without a replica`]),
  ];
}
