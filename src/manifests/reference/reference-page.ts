import { append } from '../../core/lists.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { commonShape } from '../../kinds/model/schema.ts';
import { indexKinds, type SectionKind } from '../read/kind-index.ts';
import { manifestJsonSchema } from './json-schema.ts';
import type { JsonSchema } from './schema-notes.ts';
import { SchemaWords } from './schema-words.ts';

interface Row {
  readonly field: string;
  readonly value: string;
  readonly meaning: string;
}

/** Returns a Markdown reference of all sections and fields of manifests, generated from the validating schemas. */
export function manifestReference(kinds: readonly Kind[]): string {
  const schema = manifestJsonSchema(kinds);
  const words = new SchemaWords(schema);
  const sections = [...indexKinds(kinds).sections.values()];
  const [first] = sections;
  const parts = [
    '# Manifests',
    'A manifest is a YAML file with one or more of these sections. A field that you omit is not managed.',
    sections.map(({ manifest }) => `- [\`${manifest.section}\`](#${manifest.section}): ${manifest.summary}`).join('\n'),
    ...sections.map((kind) => sectionPart(kind, entrySchema(kind, schema, words), words)),
  ];
  if (first !== undefined) {
    const rows = rowsOf(entrySchema(first, schema, words), '', words).filter(({ field }) => isCommon(field));
    parts.push('## Fields of every resource', table(rows));
  }
  return `${parts.join('\n\n')}\n`;
}

function entrySchema(kind: SectionKind, schema: JsonSchema, words: SchemaWords): JsonSchema {
  const section = words.resolve(words.members(schema).get(kind.manifest.section) ?? {});
  const entry = kind.manifest.single ? section : words.values(section);
  return words.resolve(entry ?? {});
}

function sectionPart(kind: SectionKind, entry: JsonSchema, words: SchemaWords): string {
  const { section, single, summary, example, key } = kind.manifest;
  const indented = example.trimEnd().replace(/^(?=.)/gm, '  ');
  const rows = rowsOf(entry, '', words).filter(({ field }) => !isCommon(field));
  return [
    `## ${section}`,
    single ? summary : `${summary}\n\nKey format: ${key.words}.`,
    `\`\`\`yaml\n${section}:\n${indented}\n\`\`\``,
    table(rows),
  ].join('\n\n');
}

/** Returns a row for each field, including the fields of nested mappings and lists. */
function rowsOf(schema: JsonSchema, prefix: string, words: SchemaWords, above: readonly JsonSchema[] = []): Row[] {
  const required = words.required(schema);
  const rows: Row[] = [];
  for (const [name, member] of words.members(schema)) {
    if (prefix !== '' && Object.hasOwn(commonShape, name)) {
      continue;
    }
    const field = `${prefix}${name}`;
    const value = `${words.type(member)}${required.has(name) ? '; required' : ''}`;
    rows.push({ field, value, meaning: words.description(member) });
    for (const { schema: inner, suffix } of words.inside(member)) {
      if (!above.includes(inner)) {
        append(rows, rowsOf(inner, `${field}${suffix}.`, words, [...above, schema, inner]));
      }
    }
  }
  return rows;
}

function isCommon(field: string): boolean {
  return Object.hasOwn(commonShape, field.split('.')[0] ?? '');
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ field, value, meaning }) => `| \`${field}\` | ${cell(value)} | ${cell(meaning)} |`);
  return ['| field | value | meaning |', '|---|---|---|', ...lines].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
