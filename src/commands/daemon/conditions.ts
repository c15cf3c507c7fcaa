/** Shows the conditions of the running daemon. */
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import type { ConditionView } from '../../web/pages/conditions.ts';
import { VIEWS } from '../cli/answers.ts';
import type { CommandContext } from '../cli/context.ts';
import { table } from '../cli/table.ts';
import { ageOf, approvalLine, line, openViews, print, type ViewFlags } from './views.ts';

/** Prints the conditions of all organizations, or of one. Returns 1 if one of them fires. */
export async function conditionsCommand(flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const { load } = await openViews(flags, context);
  const { organization } = flags;
  const query = organization === undefined ? '' : `?organization=${encodeURIComponent(organization)}`;
  const view = await load(`/conditions${query}`, VIEWS.conditions);
  print(view, flags, context, () => [
    ...conditionLines([...view.firing, ...view.pending], flags, context),
    ...(view.firing.length + view.pending.length === 0 ? ['nothing is wrong'] : []),
    ...(view.notShown === 0 ? [] : [`${view.notShown} more are not shown`]),
  ]);
  return view.firing.length > 0 ? EXIT.failed : EXIT.done;
}

function conditionLines(
  conditions: readonly ConditionView[],
  flags: ViewFlags,
  context: CommandContext,
): readonly string[] {
  const rows = conditions.map(({ since, state, severity, code, organization, summary, inhibits }) => [
    ageOf(since, context),
    state,
    severity,
    code,
    organization ?? 'all organizations',
    line([summary, inhibits === 0 ? '' : `(explains ${counted(inhibits, 'other condition')})`]),
  ]);
  const [head = '', ...lines] = table(['SINCE', 'STATE', 'SEVERITY', 'CODE', 'ORGANIZATION', 'SUMMARY'], rows);
  const details = conditions.map(({ code, organization, path, details }) => {
    const checksum = code === 'waiting-for-approval' ? (path?.split('/plans/')[1] ?? null) : null;
    const approval = checksum === null ? null : decodeURIComponent(checksum);
    return [...details.map((each) => line([each])), ...approvalLine(approval, organization ?? '', flags)];
  });
  return rows.length === 0
    ? []
    : [head, ...lines.flatMap((each, index) => [each, ...(details[index] ?? []).map((detail) => `  ${detail}`)])];
}
