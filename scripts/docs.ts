import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Metric } from 'prom-client';
import { createProgram } from '../src/commands/program.ts';
import { systemClock } from '../src/core/clock.ts';
import { kinds } from '../src/kinds/registry.ts';
import { manifestReference } from '../src/manifests/reference-page.ts';
import { createMetrics } from '../src/server/metrics.ts';
import { apiPage } from './api-page.ts';
import { cell, commandsPage } from './commands-page.ts';
import { alertsTable } from './deployment/alerts.ts';
import { deploymentFiles } from './deployment/files.ts';
import { valuesTable } from './deployment/values.ts';
import { kindMembers } from './kind-members.ts';
import { layersTable, readLayers } from './layers.ts';
import { conditionTable, eventTable, templateTable } from './notification-tables.ts';
import { operationFiles } from './operations.ts';

const ROOT = new URL('../', import.meta.url);
const NOTE = '<!-- Made from the source by "npm run docs"; change it there. -->';

/** The pages of docs/, the files of deploy/ and the table of operations, made in whole or in part, by path. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/manifests.md', manifestsPage()],
    ['docs/commands.md', commandsPage(commandLine(), NOTE)],
    ['docs/configuration.md', configurationPage()],
    ['docs/metrics.md', metricsPage()],
    ...operationFiles(),
    ['docs/api.md', apiPage(NOTE)],
    ['docs/architecture.md', architecturePage()],
    ['docs/adding-a-kind.md', addingAKindPage()],
    ['docs/notifications.md', notificationsPage()],
    ['docs/kubernetes.md', kubernetesPage()],
    ...deploymentFiles(),
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
    `\n\n${NOTE}\n\nThis page lists every section and field. [Concepts](concepts.md) explains keys, references and omitted fields.\n\n`,
  );
}

const TRUST = `## Configuration file

Octavo reads the first of these that applies:

1. **The file that \`--config FILE\` or \`OCTAVO_CONFIG\` names.** Name only a file that you trust. It may read any variable
   (\`\${env:NAME}\`) and any file (\`\${file:PATH}\`), and its token goes to its \`platform.baseUrl\`.
2. **The environment**, if \`OCTAVO_BASE_URL\`, \`OCTAVO_TOKEN\` or \`OCTAVO_ORGANIZATION\` is set. The token and the
   organization are required. The address defaults to \`https://api.gitbook.com\`, but is required if the working directory
   contains a \`config.yaml\`, which is then not read.
3. **\`config.yaml\` in the working directory.** Someone else may have written it, so it has limits:
   - It can read only variables whose names begin with \`OCTAVO_\`, and no file.
   - A value from the environment is sent only to an address from the environment. A file with a literal
     \`platform.baseUrl\`, or none, and a token from a variable is refused.
   - It must be a regular file of at most 1 MiB, not a symbolic link.
   - \`run\`, \`approve\`, \`notify test\`, \`conversations\` and \`clusters\` do not read it, because they open the files and
     addresses in it. Pass \`--config config.yaml\`.

Octavo does not read \`.env\` files. [Tokens](token.md) shows how to create a token.

### Configuration in pull-request jobs

The author of a pull request must not choose where a token goes. This applies to every CI job for a pull request, with or
without \`--comment\`: GitHub, Gitea and Forgejo Actions, GitLab CI and Bitbucket Pipelines.

- \`config.yaml\` in the repository is not read unless it is named.
- A named configuration inside the repository, and every file it names there, is read from the commit that the pull
  request starts from. A change to it takes effect once it is merged. The clone needs that commit (\`fetch-depth: 0\`,
  \`GIT_DEPTH: 0\`).
- A configuration outside the repository is read as it is.

Octavo detects such a job by the variables of the forge. If you run Octavo in your own container, pass these variables on, or
keep the configuration outside the repository.

## Proxies and encryption

\`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` apply to the platform, helpdesks, forges and the sign-in provider. Git reads them too. A proxy
is an \`http://\` or \`https://\` URL, with \`user:password@\` if it requires authentication. Addresses of this machine never go
through a proxy. Set \`NODE_EXTRA_CA_CERTS\` for your own certificates, and \`GIT_SSL_CAINFO\` for git.

An \`http://\` address of another machine is refused, because the token would be sent unencrypted. If you trust the network,
set \`platform.insecure: true\`, or \`OCTAVO_INSECURE=true\` without a configuration file.`;

function configurationPage(): string {
  const example = readFileSync(new URL('config.example.yaml', ROOT), 'utf8').trimEnd();
  return `# Configuration

${NOTE}

The daemon, and every command that needs the platform, reads one YAML file. Octavo reports all problems in it at once, each
with its line. A minimal file:

\`\`\`yaml
platform:
  token: "\${env:OCTAVO_TOKEN}"
organizations:
  - id: org_1
    source: { git: { url: https://git.example/acme/docs.git } }
\`\`\`

All other settings have defaults. [Tokens](token.md) shows how to create the token.

${TRUST}

## All settings

This is [config.example.yaml](../config.example.yaml):

\`\`\`yaml
${example}
\`\`\`

[Approvals](approvals.md) explains which changes wait for a person, and [The daemon](daemon.md) when it applies.

## Organizations in a directory

Hundreds of organizations are easier to manage as one file each:

\`\`\`yaml
platform: { token: "\${env:OCTAVO_TOKEN}" }
organizations: { directory: organizations }
\`\`\`

\`organizations/acme.yaml\` then has the settings of one organization:

\`\`\`yaml
id: org_acme
source: { git: { url: https://git.example/acme/docs.git } }
\`\`\`

Files whose names end in \`.yaml\` or \`.yml\` are read, except hidden ones. A symbolic link must point to a file in the
directory. Relative paths in them start at the directory of
the configuration file, as in the list. \`list\` next to \`directory\` adds organizations that have no file of their own. Two
organizations with the same id are reported as a problem of both files, or of the file if the other is in the list.

[The daemon](daemon.md#changes-of-the-configuration) uses the valid files while others are invalid. It does not start if no
file is valid. \`octavo run --once\` and the commands that plan, apply and validate refuse a configuration with an invalid file.
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

Scrape \`GET /metrics\` of the daemon with Prometheus. The address is \`server.listen\` in the
[configuration](configuration.md). No label contains a title, an email address or a token.

In a [fleet](fleet.md), scrape every replica. Metrics with a label \`organization\` or \`queue\` are exported by the replica
that has the organization, and disappear there when it is taken over. Requests of webhooks are counted by the replica that
received them.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

The default metrics of a Node process have the prefixes \`octavo_process_\` and \`octavo_nodejs_\`.

## Alerts

The Helm chart has these alerts as a PrometheusRule (\`monitoring.rules\`), and the folder \`deploy/kustomize/monitoring\` as
a component: see [Kubernetes](kubernetes.md#monitoring). \`OctavoLeaseRunsOut\` is for leases of 60 s, the default of \`fleet.lease\`.

${alertsTable()}
`;
}

function addingAKindPage(): string {
  return withBlocks('docs/adding-a-kind.md', { members: kindMembers });
}

function architecturePage(): string {
  return withBlocks('docs/architecture.md', { layers: () => layersTable(readLayers()) });
}

function kubernetesPage(): string {
  return withBlocks('docs/kubernetes.md', { values: valuesTable });
}

function notificationsPage(): string {
  return withBlocks('docs/notifications.md', {
    conditions: conditionTable,
    events: eventTable,
    names: templateTable,
  });
}

/** A page with its blocks replaced, each between two comments; the rest of it is written manually. */
function withBlocks(path: string, blocks: Readonly<Record<string, () => string>>): string {
  return Object.entries(blocks).reduce(
    (page, [name, write]) => {
      const block = new RegExp(`(?<=^<!-- ${name}: .*-->\\n)[\\s\\S]*(?=^<!-- end of ${name} -->$)`, 'm');
      if (!block.test(page)) {
        throw new Error(`${path}: the comments around the block "${name}" are missing; restore them`);
      }
      return page.replace(block, () => `\n${write()}\n\n`);
    },
    readFileSync(new URL(path, ROOT), 'utf8'),
  );
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

if (import.meta.main) {
  for (const [path, text] of referencePages()) {
    mkdirSync(new URL('.', new URL(path, ROOT)), { recursive: true });
    writeFileSync(new URL(path, ROOT), text);
    process.stdout.write(`${path}\n`);
  }
}
