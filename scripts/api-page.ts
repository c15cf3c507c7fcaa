import { describeFields, type FieldDescription } from '../src/commands/api/operations.ts';
import type { Operation } from '../src/platform/operations/model/operation.ts';
import { allOperations, limitedTo } from '../src/platform/operations/table.ts';
import type { Repeat } from '../src/queue/request.ts';

/** Renders `docs/api.md`: how to use `octavo api`, and every operation with its fields. */
export function apiPage(note: string): string {
  const areas = new Map<string, Operation[]>();
  for (const operation of allOperations().toSorted((a, b) => order(a, b))) {
    const area = areaOf(operation.path);
    areas.set(area, [...(areas.get(area) ?? []), operation]);
  }
  const parts = [...areas].flatMap(([area, found]) => [`## ${area}`, ...found.map(operationPart)]);
  return `${[INTRODUCTION.replace('NOTE', note), ...parts].join('\n\n')}\n`;
}

function order(a: Operation, b: Operation): number {
  const [left, right] = [areaOf(a.path), areaOf(b.path)];
  return left === right ? compare(a.path, b.path) : compare(left, right);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The collection that a path belongs to. */
function areaOf(path: string): string {
  const [, , first = '', , second, , third] = path.split('/');
  if (first === 'orgs' || first === 'org') {
    const name = second === 'sites' && third !== undefined ? `Sites: ${third}` : (second ?? 'organizations');
    return capital(
      name
        .replaceAll('-', ' ')
        .replace(/^saml$/, 'SAML')
        .replace(/^sso$/, 'SSO')
        .replace(/^openapi$/, 'OpenAPI')
        .replace(/\b(ai|mcp)\b/, (word) => word.toUpperCase()),
    );
  }
  if (first === 'spaces' && second !== undefined) {
    return capital(`spaces: ${second.replaceAll('-', ' ')}`);
  }
  return first === '' ? 'Version' : capital(first.replaceAll('-', ' '));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const REPEATS: Readonly<Record<Repeat, string>> = {
  safe: '',
  idempotent: 'idempotent',
  never: 'never retried',
};

function operationPart(operation: Operation): string {
  const { name, alias, method, path, summary, paginated, streamed, repeat } = operation;
  const { query, body } = describeFields(operation);
  const only = limitedTo(operation);
  const facts = [
    `rate limit class \`${operation.class}\``,
    REPEATS[repeat],
    paginated ? 'paginated (`--paginate`)' : '',
    streamed ? 'streamed' : '',
    alias === null ? '' : `also \`${alias}\``,
    only === null ? '' : `only ${only}`,
  ].filter((fact) => fact !== '');
  const rows = [...query.map((field) => fieldRow('query', field)), ...body.map((field) => fieldRow('body', field))];
  return [
    `### ${name}`,
    summary,
    `\`${method} ${path}\`: ${facts.join(', ')}.`,
    ...(rows.length === 0 ? [] : [`| field | in | accepts |\n|---|---|---|\n${rows.join('\n')}`]),
  ].join('\n\n');
}

function fieldRow(where: string, { name, isRequired, expected }: FieldDescription): string {
  const text = expected.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');
  return `| \`${name}\`${isRequired ? ' (required)' : ''} | ${where} | ${text} |`;
}

const INTRODUCTION = `# Calling the platform's API

NOTE

\`octavo api\` sends any request to the platform, with the token and organization of the configuration. Requests are checked
before they are sent, respect the rate limits, and have priority over background work.

\`\`\`sh
octavo api listTeams --paginate --jq .title
octavo api GET '/v1/orgs/{organization}/teams' -f title=docs
octavo api createTeam -f title=Writers -f 'members[]=ana@acme.example'
octavo api updateSite site_1 -f visibility=unlisted -F 'adaptiveContent[enabled]=true' --dry-run
octavo api PATCH /orgs/:org/sites/site_1 -d @site.json --yes
octavo api askSite site_1 -f 'question=How do I begin?' -f 'scope[mode]=default' --jq .answer
octavo api --list team
\`\`\`

## Choosing the request

Name a request in one of these ways:

- \`METHOD PATH\`, or only a path for a GET. \`/v1\` can be left out.
- The name of an operation from the list below, followed by the ids of its path in order.
- A full URL of the platform, for example from a response. It is used unchanged.

In a path, \`{organization}\` or \`:org\` is replaced by the configured organization. Any other \`{name}\` or \`:name\` is replaced
by the field with that name.

## Sending data

| flag | what it sends |
|---|---|
| \`-f key=value\` | a string field |
| \`-F key=value\` | a typed field: \`true\`, \`3\` and \`null\` keep their types, \`@file\` sends the contents of a file, and \`@-\` standard input |
| \`-d\` | the whole body: JSON, \`@file\`, or \`-\` for standard input; fields are merged into it |
| \`-H name:value\` | an additional header, or a replacement for one that Octavo sends, such as \`Authorization\`; headers of the connection, such as \`Host\`, cannot be set |

\`scope[mode]=default\` sets a nested field, \`members[]=…\` adds an item to a list, and \`members[]\` alone sends an empty list.
Fields go into the query of a GET and into the body of other requests. A field that only the query of an operation has goes
into the query.

## Checks and confirmation

A request for one of the operations below is not sent if a field is missing, misspelled or too long. A request with a path
that looks like a typing error is refused, too; any other unknown request is sent with a warning. \`--raw\` turns these checks
off. On a terminal, a write asks for confirmation; elsewhere it needs \`--yes\`. \`--dry-run\` prints the request and does not
send it.

## Output

Responses are printed to standard output as indented JSON, with colors on a terminal.

- \`--paginate\` prints the items of all pages, one per line (NDJSON). A page is requested when the previous one was printed.
- \`--slurp\` prints the items of all pages as one JSON array, after the last page.
- \`--jq\` filters the response, each item with \`--paginate\`, or the array with \`--slurp\`. Strings are printed raw, other values
  as JSON.
- \`-i\` prints the status and the headers first, also for a stream.
- \`--silent\` leaves out the body.

Streamed responses are printed with one line per event. Other data, such as a PDF that a response links to, is written
unchanged when the output is redirected. Control characters in responses are escaped on a terminal, and output never
contains the token or secret headers.

## Errors and exit codes

An error is one line on standard error. The error response of the platform is printed to standard output as JSON, unless
\`--jq\` is used.

| exit code | meaning |
|---|---|
| 1 | the platform or the network failed |
| 3 | the request is invalid and was not sent |
| 130 | stopped with Ctrl-C |

Requests wait for the rate limit and are retried where that is safe. If a write was in flight when it was stopped or failed,
a message reports that it may have taken effect. Closing standard output early, as \`head\` does, ends the command without an
error unless a request has failed.

## Shell completion

\`octavo completion bash\`, \`zsh\` or \`fish\` prints a completion script. It completes commands, options, methods, operations,
paths and fields, offline and also inside open quotes.

The rest of this page lists every operation in the OpenAPI documents 0.146 and 0.202 of the platform. Most platforms have only
some of them: *only platforms like 0.202* means that the older document lacks the operation, and *(0.202)* the same of a
field. Where the document has another name for an operation, \`octavo api\` takes both.

\`octavo api --list NAME\` prints the same for one operation, and
\`octavo api --list --format json\` prints all of them with JSON Schemas. Ids of the path are not repeated in the tables.`;
