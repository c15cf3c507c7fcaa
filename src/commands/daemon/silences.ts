/** Commands about conditions and silences of the running daemon. */
import type { ConditionCode } from '../../core/condition-codes.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import { callControl } from '../../server/control-client.ts';
import type { ConditionView } from '../../views/conditions.ts';
import type { SilenceView } from '../../views/silences.ts';
import { ACTIONS, VIEWS } from '../cli/answers.ts';
import type { CommandContext } from '../cli/context.ts';
import { userName } from '../cli/control-call.ts';
import { line, openViews, print, type ViewFlags } from './views.ts';

export interface SilenceFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly reason: string;
  /** Milliseconds. */
  readonly for?: number;
}

/** Default length of a silence, in milliseconds. */
const DEFAULT_SILENCE = 4 * 3_600_000;

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
  const { since, state, severity, code, organization, summary, details, inhibits, silencedUntil } = condition;
  const notes = [
    ...(silencedUntil === null ? [] : [`silenced until ${silencedUntil}`]),
    ...(inhibits === 0 ? [] : [`explains ${counted(inhibits, 'other condition')}`]),
  ];
  const note = notes.length === 0 ? '' : `(${notes.join('; ')})`;
  return [
    line([since, state, severity, code, `${organization ?? 'all organizations'}:`, summary, note]),
    ...details.map((each) => `  ${line([each])}`),
  ];
}

/** Adds a silence for a code of conditions, or for all of them. */
export async function silenceAddCommand(
  code: ConditionCode | undefined,
  flags: SilenceFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { organization, reason } = flags;
  const { socket } = await openViews(flags, context);
  const until = context.clock.now() + (flags.for ?? DEFAULT_SILENCE);
  const subject = { code: code ?? null, organization: organization ?? null };
  const request = { subcommand: 'add', ...subject, reason, until } as const;
  const answer = await callControl(
    socket,
    { command: 'silences', user: userName(), request },
    { answer: ACTIONS.silence, version: context.version },
  );
  const about = `${code ?? 'all conditions'} of ${organization ?? 'all organizations'}`;
  context.terminal.out(
    `${line([`Silenced ${about} until ${answer.until}; end it with: octavo silence end ${answer.id}`])}\n`,
  );
  return EXIT.done;
}

/** Ends a silence. */
export async function silenceEndCommand(
  id: string,
  flags: Pick<SilenceFlags, 'config'>,
  context: CommandContext,
): Promise<ExitCode> {
  const { socket } = await openViews(flags, context);
  await callControl(
    socket,
    { command: 'silences', user: userName(), request: { subcommand: 'end', id } },
    { answer: ACTIONS.any, version: context.version },
  );
  context.terminal.out(`${line([`Ended the silence ${id}`])}\n`);
  return EXIT.done;
}

/** Prints the silences that have not ended. */
export async function silenceListCommand(flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const { load } = await openViews(flags, context);
  const view = await load('/silences', VIEWS.silences);
  print(view, flags, context, () => [
    ...view.active.map(silenceLine),
    ...(view.active.length === 0 ? ['no silences'] : []),
  ]);
  return EXIT.done;
}

function silenceLine({ id, code, organization, until, by, reason }: SilenceView): string {
  const about = `${code ?? 'all conditions'} of ${organization ?? 'all organizations'}`;
  return line([id, about, `until ${until}`, `by ${by || 'unknown'}:`, reason]);
}
