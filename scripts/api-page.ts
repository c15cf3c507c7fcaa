import { describeFields, type FieldDescription } from '../src/commands/api/describe.ts';
import { operations } from '../src/platform/operations/index.ts';
import type { Operation } from '../src/platform/operations/model/operation.ts';
import type { Repeat } from '../src/queue/model/request.ts';

/** `docs/api.md`: how `octavo api` is used, and every operation with what it takes. */
export function apiPage(note: string): string {
  const table: readonly Operation[] = Object.values(operations);
  const areas = new Map<string, Operation[]>();
  for (const operation of table.toSorted((a, b) => order(a, b))) {
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
  if (first === 'orgs') {
    const name = second === 'sites' && third !== undefined ? `Sites: ${third}` : (second ?? 'organizations');
    return capital(
      name
        .replaceAll('-', ' ')
        .replace(/^saml$/, 'SAML')
        .replace(/^sso$/, 'SSO')
        .replace(/^openapi$/, 'OpenAPI'),
    );
  }
  if (first === 'spaces' && second !== undefined) {
    return capital(`spaces: ${second.replaceAll('-', ' ')}`);
  }
  return first === '' ? 'Version' : capital(first);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const REPEATS: Readonly<Record<Repeat, string>> = {
  safe: 'changes nothing',
  idempotent: 'may be repeated',
  never: 'never repeated by itself',
};

function operationPart(operation: Operation): string {
  const { name, method, path, summary, paginated, streamed, repeat } = operation;
  const { query, body } = describeFields(operation);
  const ways = [paginated ? 'a list (`--paginate`)' : '', streamed ? 'answered as a stream' : ''].filter(
    (way) => way !== '',
  );
  const rows = [...query.map((field) => fieldRow('query', field)), ...body.map((field) => fieldRow('body', field))];
  return [
    `### ${name}`,
    summary,
    `\`${method} ${path}\`: ${[operation.class, REPEATS[repeat], ...ways].join(', ')}.`,
    ...(rows.length === 0 ? [] : [`| field | in | must be |\n|---|---|---|\n${rows.join('\n')}`]),
  ].join('\n\n');
}

function fieldRow(where: string, { name, isRequired, expected }: FieldDescription): string {
  const text = expected.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');
  return `| \`${name}\`${isRequired ? ' (required)' : ''} | ${where} | ${text} |`;
}

const INTRODUCTION = `# Calling the platform's API

NOTE

\`octavo api\` sends any request to the platform: with the token and the organization of the configuration, through the
same rate-aware queue as everything else, ahead of it as a person's request, and checked before it is sent.

\`\`\`sh
octavo api listTeams --paginate --jq .title
octavo api GET '/v1/orgs/{organization}/teams' -f title=docs
octavo api createTeam -f title=Writers -f 'members[]=ana@acme.example'
octavo api updateSite site_1 -f visibility=unlisted -F 'adaptiveContent[enabled]=true' --dry-run
octavo api PATCH /orgs/:org/sites/site_1 -d @site.json --yes
octavo api askSite site_1 -f 'question=How do I begin?' -f 'scope[mode]=default' --jq .answer
octavo api --list team
\`\`\`

**Which request.** \`METHOD PATH\`, a path alone (which is read with GET), or the name of an operation with the ids that its
path needs, in order. \`/v1\` may be left out of a path. A whole URL of the platform, such as one from an answer, is used as
it is. \`{organization}\` or \`:org\` stands for the configured organization, and any other \`{name}\` or \`:name\` for the
field of that name.

**What is sent.** \`-f key=value\` is a text; with \`-F\` \`true\`, \`3\` and \`null\` are what they are, \`@file\` is what is in the
file, and \`@-\` what is piped in. \`scope[mode]=default\` is a field inside a field, \`members[]=…\` an item of a list, and
\`members[]\` alone an empty list. Fields are the query of a GET and the body of anything else, but what only its query has.
\`-d\` is the whole body: JSON, \`@file\`, or \`-\` for what is piped in; fields are laid over it. \`-H name:value\` adds a
header, or replaces one that Octavo sends, such as \`Authorization\`; those of the connection, such as \`Host\`, cannot be set.

**What is checked.** The fields of an operation that is in the list below: nothing is sent where one is missing, misspelled
or too long. A path that is nearly one of these is refused too; any other is sent as it is, with a note. \`--raw\` sends what
does not fit. A write asks first on a terminal, and needs \`--yes\` elsewhere. \`--dry-run\` prints what would be sent.

**What is answered.** JSON on standard output, indented, and in colours on a terminal. \`--paginate\` gives the items of all
pages, one a line (NDJSON), each page asked for once the one before is taken; streamed answers are a line for each piece.
\`--slurp\` prints the items of all pages as one JSON array instead, once all of them are there. \`--jq\` selects from the
answer, from each of the items, or from that array: texts come out as they are, other values as JSON. \`-i\` shows the status
and the headers before, also those of a stream. \`--silent\` prints no body. What is outside of the API, such as a PDF that
an answer links to, comes out as it is. Nothing that the platform says is obeyed by a terminal, and neither the token nor a
secret header is in any output.

**When it fails.** One line on standard error, and the platform's own JSON on standard output unless something is selected
from it. The exit code is 1 where the platform or the network failed, and 3 where the request is wrong and was not sent.
Requests wait where the rate limit says so, and what may be repeated is. Ctrl-C ends it at once with exit code 130, whatever
it waits for; a write that was under way is reported, since it may have been done. A reader that leaves early, as \`head\`
does, ends it without an error, but a call that failed still exits with 1.

**Completion.** \`octavo completion bash\`, \`zsh\` or \`fish\` prints a script for the shell: it completes commands, options,
methods, operations, paths and fields, offline, also inside of open quotes.

Every operation follows. \`octavo api --list NAME\` shows the same, and \`octavo api --list --format json\` has it for programs,
with JSON Schemas. Ids in the path are given in their places.`;
