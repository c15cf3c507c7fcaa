/** Problems of manifests as annotations of GitHub. */
import type { Problem } from '../core/errors.ts';
import { printable } from '../plan/render/words.ts';
import type { Report } from './report.ts';

/**
 * Formats problems as workflow commands, which GitHub shows next to their lines. Gitea and Forgejo use the same format.
 *
 * Each command is one line: content of a manifest can neither end it nor begin another.
 */
export function toGitHub({ problems, warnings }: Report): string {
  const commands =
    (level: 'error' | 'warning') =>
    ({ file, line, column, address, message }: Problem) =>
      workflowCommand(
        level,
        { file, line: String(line), col: String(column), title: address },
        address === '' ? message : `${address}: ${message}`,
      );
  return [...problems.map(commands('error')), ...warnings.map(commands('warning'))].join('');
}

/** Formats a workflow command with its line break; omits empty properties. */
function workflowCommand(name: string, properties: Readonly<Record<string, string>>, data: string): string {
  const written = Object.entries(properties)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}=${escapeProperty(value)}`);
  return `::${name}${written.length === 0 ? '' : ` ${written.join(',')}`}::${escapeData(data)}\n`;
}

/** Escapes percent signs and line breaks as the runner expects, and writes out other control characters. */
function escapeData(text: string): string {
  return printable(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
