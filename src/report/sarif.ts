/** Problems of manifests as SARIF. */

import { formatProblem, type Problem } from '../core/errors.ts';
import { shownJson } from '../core/json.ts';
import { counted, noCommand, printable } from '../plan/render/words.ts';
import { MANIFEST_RULE, type Report, type Rule, ruleOf, type Tool } from './report.ts';

/** Formats problems as SARIF 2.1.0 for code scanning: one run with all rules. */
export function toSarif(report: Report, tool: Tool): string {
  const rules = [MANIFEST_RULE, ...tool.rules];
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Octavo', semanticVersion: tool.version, rules: rules.map(ruleObject) } },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { [ROOT]: { description: { text: 'The root of the repository.' } } },
        artifacts: report.files.map((file) => ({ location: locationOf(file) })),
        results: [
          ...report.problems.map((problem) => resultObject(problem, 'error', rules)),
          ...report.warnings.map((warning) => resultObject(warning, 'warning', rules)),
        ],
      },
    ],
  };
  return `${shownJson(log)}\n`;
}

const ROOT = '%SRCROOT%';

function ruleObject({ id, description }: Rule): object {
  return {
    id,
    shortDescription: { text: plainText(description) },
    defaultConfiguration: { level: 'error' },
  };
}

function resultObject(problem: Problem, level: 'error' | 'warning', rules: readonly Rule[]): object {
  const { file, line, column, address, message } = problem;
  const rule = ruleOf(problem, rules);
  return {
    ruleId: rule.id,
    ruleIndex: rules.indexOf(rule),
    level,
    message: { text: plainText(address === '' ? message : `${address}: ${message}`) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: locationOf(file),
          region: { startLine: line, startColumn: column },
        },
      },
    ],
  };
}

function locationOf(file: string): object {
  return { uri: file.toWellFormed().split('/').map(encodeURIComponent).join('/'), uriBaseId: ROOT };
}

/**
 * Escapes a message as plain text. A plain text message of SARIF may contain links (`[text](target)`), placeholders
 * (`{0}`) and their escapes (SARIF 2.1.0, sections 3.11.5 and 3.11.6).
 */
function plainText(text: string): string {
  return printable(text)
    .replace(/[\\[\]]/g, (character) => `\\${character}`)
    .replace(/\{(\d+)\}/g, '{{$1}}');
}

/** Formats problems as JUnit XML: a test case per manifest, which fails with all problems of the manifest. */
export function toJUnit({ files, problems }: Report, { rules }: Tool): string {
  const byFile = Map.groupBy(problems, ({ file }) => file);
  const names = [...new Set([...files, ...byFile.keys()])];
  const cases = names.map((file) =>
    element(
      'testcase',
      { name: file, classname: 'manifests', file, time: '0' },
      failure(byFile.get(file) ?? [], rules),
    ),
  );
  const counts = { tests: String(names.length), failures: String(byFile.size), errors: '0', time: '0' };
  const suite = element('testsuite', { name: 'octavo validate', ...counts, skipped: '0' }, cases);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', { name: 'octavo', ...counts }, [suite])}\n`;
}

function failure(problems: readonly Problem[], rules: Tool['rules']): readonly string[] {
  const [first] = problems;
  if (first === undefined) {
    return [];
  }
  const more = problems.length === 1 ? '' : ` (and ${counted(problems.length - 1, 'more problem')})`;
  const type = ruleOf(first, rules).id;
  const text = problems.map((problem) => noCommand(escapeXml(formatProblem(problem)))).join('\n');
  return [`<failure${attributes({ message: `${first.message}${more}`, type })}>${text}</failure>`];
}

/** Formats an element; its children are XML already. */
function element(name: string, values: Readonly<Record<string, string>>, children: readonly string[]): string {
  const start = `<${name}${attributes(values)}`;
  return children.length === 0 ? `${start}/>` : `${start}>\n${children.join('\n')}\n</${name}>`;
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Escapes text for XML 1.0, in elements and attributes. Characters that XML does not allow are written as escapes. */
function escapeXml(text: string): string {
  return printable(text)
    .replace(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

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
