import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { commandLine, referencePages } from '../../scripts/docs.ts';

const read = (path: string) => {
  try {
    return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  } catch {
    return 'nothing';
  }
};

/** The commands that help lists and their subcommands, by their full names. */
function listedCommands(parent: Command, name = 'octavo'): readonly (readonly [string, Command])[] {
  return parent
    .createHelp()
    .visibleCommands(parent)
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => {
      const own = `${name} ${command.name()}`;
      return [[own, command] as const, ...listedCommands(command, own)];
    });
}

describe('generated pages', () => {
  test.each([...referencePages()])('%s is up to date', (path, text) => {
    expect(read(path) === text, `${path} is stale; run: npm run docs`).toBe(true);
  });

  test('describe every command, also those of groups, with every argument and option', () => {
    const page = referencePages().get('docs/commands.md') ?? '';
    expect(page).not.toMatch(/\| {2}\|.*\|$\n^\| `-.*\| {2}\| {2}\|$/m);
    const commands = listedCommands(commandLine());
    expect(commands.map(([name]) => name)).toEqual(
      expect.arrayContaining(['octavo plan', 'octavo store copy', 'octavo conversations dead retry']),
    );
    const missing = commands.flatMap(([name, command]) => {
      const part = new RegExp(`^#{2,4} ${name}\\n([^]*?)(?=^#{2,4} |$(?![^]))`, 'm').exec(page)?.[1] ?? '';
      const rows = [
        ...command.options.map(({ flags }) => `| \`${flags}\` | `),
        ...command.registeredArguments.map((argument) =>
          argument.required ? `| \`<${argument.name()}>\` | ` : `| \`[${argument.name()}]\` | `,
        ),
      ];
      return ['\noctavo', ...rows].filter((row) => !part.includes(row)).map((row) => `${name}: ${row}`);
    });
    expect(missing).toEqual([]);
  });

  test('and the help have every command in one of four groups', () => {
    const program = commandLine();
    const help = program.helpInformation();
    const groups = ['Everyday:', 'Daemon:', 'Support:', 'Operations:'];
    expect(help.match(/^[A-Z][a-z]+:$/gm)).toEqual(['Options:', ...groups]);
    const store = program.commands.find((command) => command.name() === 'store')?.helpInformation() ?? '';
    expect(store.match(/^[A-Z][a-z]+:$/gm)).toEqual(['Options:', 'Commands:']);
    const page = referencePages().get('docs/commands.md') ?? '';
    expect([...page.matchAll(/^\| (\w+) \| \[/gm)].map(([, group]) => `${group}:`)).toEqual(groups);
  });

  test('describe every metric', () => {
    const rows = ((referencePages().get('docs/metrics.md') ?? '').split('## Alerts')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => !/\| [A-Z1][^|]+\. \|$/.test(row))).toEqual([]);
  });
});
