// Makes the tables of optional members in docs/adding-a-kind.md from the docstrings of the interfaces.

import { readFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);

/** Interfaces whose optional members the page lists, with the heading of each table. */
const INTERFACES = [
  ['Members of a field', 'src/kinds/model/field-table.ts', 'Field'],
  ['Members of a field, for the planner', 'src/plan/rules.ts', 'FieldRules'],
  ['Members of a listed kind', 'src/kinds/model/derived-kind.ts', 'ListedKind'],
  ['Members of the operations of a listed kind', 'src/kinds/model/derived-kind.ts', 'ItemOperations'],
  ['Members of a single kind', 'src/kinds/model/derived-kind.ts', 'SingleKind'],
  ['Members of any kind', 'src/kinds/model/kind.ts', 'Kind'],
  ['Members of any kind, for the planner', 'src/plan/rules.ts', 'KindRules'],
  ['Members of a part of a site', 'src/kinds/site/part.ts', 'StructurePart'],
  ['Members of a sample', 'test/contract/samples.ts', 'KindSample'],
] as const;

/** One optional member of an interface, with its docstring. */
interface OptionalMember {
  readonly name: string;
  readonly text: string;
}

/** The optional members of an interface. Throws Error if one has no docstring. */
function optionalMembers(source: string, name: string): readonly OptionalMember[] {
  const body = new RegExp(`interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(source)?.[1];
  if (body === undefined) {
    throw new Error(`interface ${name} is missing`);
  }
  const members = body.matchAll(/(?:^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}(?:readonly )?(\w+)\?(?=[:(<])/gm);
  return [...members].map(([, comment, member = '']) => {
    if (comment === undefined) {
      throw new Error(`${name}.${member} has no docstring`);
    }
    const text = comment
      .replace(/^\s*\*/gm, '')
      .replace(/\{@link (?:\w+\.)?(\w+)\}/g, '`$1`')
      .replace(/\s+/g, ' ')
      .trim();
    return { name: member, text };
  });
}

/** The tables of optional members, as Markdown. */
export function kindMembers(): string {
  return INTERFACES.map(([heading, path, name]) => {
    const members = optionalMembers(readFileSync(new URL(path, ROOT), 'utf8'), name);
    const rows = members.map((member) =>
      `| `.concat('`', member.name, '` | ', member.text.replaceAll('|', '\\|'), ' |'),
    );
    return [`### ${heading}`, '', `\`${name}\` in \`${path}\`:`, '', '| member | meaning |', '|---|---|', ...rows].join(
      '\n',
    );
  }).join('\n\n');
}
