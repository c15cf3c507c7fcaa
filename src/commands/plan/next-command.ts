/** Builds commands that Octavo suggests, with the flags that they need to work in the same directory. */
import { pathArgument, shellCommand } from '../../core/text/shell.ts';
import type { Approval } from '../../plan/render/text-layout.ts';
import { shortApproval } from '../../plan/render/words.ts';

/** Flags of the current command that the next one needs, too. */
interface TargetFlags {
  readonly config?: string | undefined;
  readonly organization?: string | undefined;
}

/** Formats a command for a shell, with the configuration and organization of the current one. */
export function nextCommand(words: readonly string[], { config, organization }: TargetFlags): string {
  return shellCommand([
    'octavo',
    ...words,
    ...(config === undefined ? [] : ['--config', pathArgument(config)]),
    ...(organization === undefined ? [] : ['--organization', organization]),
  ]);
}

/** Flags of a plan that its approval needs, too. */
export interface ApprovalFlags extends TargetFlags {
  readonly base?: string | undefined;
  readonly scope?: string | undefined;
  readonly target?: readonly string[] | undefined;
  readonly record?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Returns the command that approves the held changes of a plan; `target` is the folder or the plan file. */
export function approvalFor(target: string, flags: ApprovalFlags, when = ''): Approval {
  const { base, scope, target: addresses = [], record, yes } = flags;
  return {
    when,
    command: (checksum) =>
      nextCommand(
        [
          'apply',
          pathArgument(target),
          ...(base === undefined ? [] : ['--base', base]),
          ...(scope === undefined ? [] : ['--scope', scope]),
          ...(addresses.length === 0 ? [] : ['--target', ...addresses]),
          ...(record === true ? ['--record'] : []),
          ...(yes === true ? ['--yes'] : []),
          '--approve',
          shortApproval(checksum),
        ],
        flags,
      ),
  };
}
