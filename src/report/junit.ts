/** Problems of manifests as JUnit XML. */
import { formatProblem, type Problem } from '../core/errors.ts';
import { counted, noCommand, printable } from '../plan/render/words.ts';
import { type Report, ruleOf, type Tool } from './report.ts';

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
