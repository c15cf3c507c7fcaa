/** Shows the conditions of the running daemon. */
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import type { ConditionView } from '../../views/conditions.ts';
import { VIEWS } from '../cli/answers.ts';
import type { CommandContext } from '../cli/context.ts';
import { line, openViews, print, type ViewFlags } from './views.ts';

/** Prints the conditions of all organizations, or of one. Returns 1 if one of them fires. */
export async function conditionsCommand(flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const { load } = await openViews(flags, context);
  const { organization } = flags;
  const query = organization === undefined ? '' : `?organization=${encodeURIComponent(organization)}`;
  const view = await load(`/conditions${query}`, VIEWS.conditions);
  print(view, flags, context, () => [
    ...view.firing.flatMap(conditionLines),
    ...view.pending.flatMap(conditionLines),
    ...(view.firing.length + view.pending.length === 0 ? ['nothing is wrong'] : []),
    ...(view.notShown === 0 ? [] : [`${view.notShown} more are not shown`]),
  ]);
  return view.firing.length > 0 ? EXIT.failed : EXIT.done;
}

function conditionLines(condition: ConditionView): readonly string[] {
  const { since, state, severity, code, organization, summary, details, inhibits } = condition;
  const note = inhibits === 0 ? '' : `(explains ${counted(inhibits, 'other condition')})`;
  return [
    line([since, state, severity, code, `${organization ?? 'all organizations'}:`, summary, note]),
    ...details.map((each) => `  ${line([each])}`),
  ];
}
