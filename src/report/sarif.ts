/** Problems of manifests as SARIF. */
import type { Problem } from '../core/errors.ts';
import { shownJson } from '../core/json.ts';
import { printable } from '../plan/render/words.ts';
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
