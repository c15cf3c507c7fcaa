/** Commands that Octavo prints for a person to paste: with all that they need to work where the last one was run. */
import { pathArgument, shellCommand } from '../../core/text/shell.ts';
import type { Approval } from '../../plan/render/text-layout.ts';

/** What the command that has just run was told, and the next one needs too. */
export interface TargetFlags {
  readonly config?: string | undefined;
  readonly organization?: string | undefined;
}

/** `octavo`, the words of a command, and the options that say which platform and organization it is about. */
export function nextCommand(words: readonly string[], { config, organization }: TargetFlags): string {
  return shellCommand([
    'octavo',
    ...words,
    ...(config === undefined ? [] : ['--config', pathArgument(config)]),
    ...(organization === undefined ? [] : ['--organization', organization]),
  ]);
}

/** What a plan was made from, as far as approving it needs it. */
export interface ApprovalFlags extends TargetFlags {
  readonly base?: string | undefined;
  readonly scope?: string | undefined;
  readonly record?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** How to approve what is held of a plan: `target` is the folder or the plan file. */
export function approvalFor(target: string, flags: ApprovalFlags, when = ''): Approval {
  const { base, scope, record, yes } = flags;
  return {
    when,
    command: (checksum) =>
      nextCommand(
        [
          'apply',
          pathArgument(target),
          ...(base === undefined ? [] : ['--base', base]),
          ...(scope === undefined ? [] : ['--scope', scope]),
          ...(record === true ? ['--record'] : []),
          ...(yes === true ? ['--yes'] : []),
          '--approve',
          checksum,
        ],
        flags,
      ),
  };
}
