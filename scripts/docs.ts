import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Argument, Command, Option } from 'commander';
import type { Metric } from 'prom-client';
import { createProgram } from '../src/commands/program.ts';
import { systemClock } from '../src/core/clock.ts';
import { kinds } from '../src/kinds/registry.ts';
import { manifestReference } from '../src/manifests/reference-page.ts';
import { createMetrics } from '../src/server/metrics.ts';
import { apiPage } from './api-page.ts';

const ROOT = new URL('../', import.meta.url);
const NOTE = '<!-- Made from the source by "npm run docs"; change it there. -->';

/** The pages of docs/ that are made from the source, by path. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/manifests.md', manifestsPage()],
    ['docs/commands.md', commandsPage(commandLine())],
    ['docs/configuration.md', configurationPage()],
    ['docs/metrics.md', metricsPage()],
    ['docs/api.md', apiPage(NOTE)],
  ]);
}

/** The program as the command line parses it; nothing is run. */
export function commandLine(): Command {
  const nothing = () => undefined;
  const terminal = {
    out: nothing,
    err: nothing,
    isOutTerminal: false,
    isErrTerminal: false,
    columns: 120,
    ask: null,
    env: {},
    cwd: '/',
  };
  const { signal } = new AbortController();
  return createProgram(
    { terminal, clock: systemClock, random: Math.random, version: '0', root: new URL('../', import.meta.url), signal },
    nothing,
  );
}

function manifestsPage(): string {
  return manifestReference(kinds).replace(
    '\n\n',
    `\n\n${NOTE}\n\nEvery section and field. What the words mean is in [Concepts](concepts.md).\n\n`,
  );
}

function commandsPage(program: Command): string {
  const parts = [
    '# Commands',
    NOTE,
    'The answer of a command goes to standard output, and everything else to standard error. Colour is used on a ' +
      'terminal only, and not where `NO_COLOR` is set.',
    EXIT_CODES,
    WHERE,
    ...program
      .createHelp()
      .visibleCommands(program)
      .filter((command) => command.name() !== 'help')
      .map(commandPart),
  ];
  return `${parts.join('\n\n')}\n`;
}

const EXIT_CODES = `| exit code | means |
|---|---|
| 0 | done, also where changes are paused or people are pending |
| 1 | failed |
| 2 | the plan has changes, held ones included (\`plan --detailed-exitcode\` only) |
| 3 | invalid input: manifests, configuration or command line |
| 4 | something is held, or the plan was refused: by damage control, a stale or altered plan file, or a checksum that does not match |`;

const WHERE = `Commands that speak to the platform take it from \`--config FILE\`, else from \`config.yaml\` where it is there,
else from three variables: \`OCTAVO_BASE_URL\`, \`OCTAVO_TOKEN\` and \`OCTAVO_ORGANIZATION\`.`;

function commandPart(command: Command): string {
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)];
  return [
    `## octavo ${command.name()}`,
    `${capital(command.description())}.`,
    `\`\`\`\noctavo ${command.name()} ${command.usage()}\n\`\`\``,
    ...(rows.length === 0 ? [] : [`| | | default |\n|---|---|---|\n${rows.join('\n')}`]),
  ].join('\n\n');
}

function argumentRow(argument: Argument): string {
  const { required, description, defaultValue } = argument;
  return row(required ? `<${argument.name()}>` : `[${argument.name()}]`, description, defaultValue);
}

function optionRow({ flags, description, defaultValue, argChoices }: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`;
  return row(flags, `${description}${choices}`, defaultValue);
}

function row(name: string, meaning: string, fallback: unknown): string {
  return `| \`${name}\` | ${cell(capital(meaning))} | ${fallback === undefined ? '' : `\`${String(fallback)}\``} |`;
}

function configurationPage(): string {
  const example = readFileSync(new URL('config.example.yaml', ROOT), 'utf8').trimEnd();
  return `# Configuration

${NOTE}

The daemon, and every command that speaks to the platform, reads one YAML file: \`--config FILE\`, else \`config.yaml\`.
All problems in it are reported at once, each with its line. This is
[config.example.yaml](../config.example.yaml), with every setting:

\`\`\`yaml
${example}
\`\`\`

What a setting holds back from deletion, and when a plan waits, is explained in [The daemon](daemon.md).
`;
}

function metricsPage(): string {
  const { registry } = createMetrics();
  const own = registry.getMetricsAsArray().filter(({ name }) => !/^octavo_(process|nodejs)_/.test(name));
  const rows = own.map((metric) => {
    const { name, help, type, labels } = described(registry.getSingleMetric(metric.name), metric);
    return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`;
  });
  return `# Metrics

${NOTE}

\`GET /metrics\` answers in the Prometheus text format. No label carries a title, an email or a token.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

Besides these there are the usual figures of a Node process, as \`octavo_process_…\` and \`octavo_nodejs_…\`.
`;
}

interface MetricWords {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The library's types leave out the names of labels. */
function described(metric: Metric | undefined, { name, help, type }: { name: string; help: string; type: unknown }) {
  const { labelNames = [] } = (metric ?? {}) as { labelNames?: readonly string[] };
  return { name, help, type: String(type), labels: labelNames } satisfies MetricWords;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');
}

if (import.meta.main) {
  mkdirSync(new URL('docs', ROOT), { recursive: true });
  for (const [path, text] of referencePages()) {
    writeFileSync(new URL(path, ROOT), text);
    process.stdout.write(`${path}\n`);
  }
}
