/** Kinds with exactly one resource, which the platform never creates or deletes: settings of the organization. */
import { z } from 'zod';
import type { CallArguments } from '../../platform/client.ts';
import type { Answer, ReadOperation, WriteOperation } from '../../platform/operations/model/operation.ts';
import { type FieldTable, fieldTable } from './field-table.ts';
import type { Kind } from './kind.ts';
import { type CommonFields, manifestRules, type WrittenFields } from './manifest.ts';
import { request } from './request.ts';
import { commonShape } from './schema.ts';

/** A kind with one resource, as a field table. Every other member of {@link Kind} that is given replaces the derived one. */
interface SingleKind<Read extends ReadOperation> extends Partial<Omit<Kind, 'name' | 'fields' | 'manifest'>> {
  readonly name: string;
  /** Member of manifests that holds the fields; its name by default. */
  readonly section?: string;
  readonly summary: string;
  readonly example: string;
  readonly operations: { readonly read: Read; readonly update: WriteOperation };
  readonly fields: FieldTable<Answer<Read>>;
  /** Completes the declared fields where one depends on another. */
  complete?(fields: WrittenFields): WrittenFields;
}

/** Derives a kind with one resource from its field table. Its address is its name. */
export function singleKind<Read extends ReadOperation>(definition: SingleKind<Read>): Kind {
  const { name, section, summary, example, operations, fields, complete, ...hooks } = definition;
  const table = fieldTable(fields);
  const { paused, ignore } = commonShape;
  const naturalKeys = () => [{ by: 'kind', value: name }];
  return {
    name,
    dependsOn: [],
    creatable: false,
    deletable: false,
    suggestedKeys: () => [],
    naturalKeys,
    actualKeys: naturalKeys,
    async observe({ reader, add }) {
      const call = [] as unknown as CallArguments<Read>;
      const found = await reader.get(operations.read, ...call);
      const { id = name, title = name } = found as { readonly id?: string; readonly title?: string };
      add({ kind: name, id, title, fields: table.observe(found), within: null, place: null });
    },
    writes: (change) => ({ first: [request(operations.update, { body: table.parameters(change) } as never)] }),
    ...hooks,
    fields: table.rules,
    manifest: manifestRules({
      section: section ?? name,
      single: true,
      key: { pattern: /^$/, words: 'nothing' },
      entry: z.strictObject({ ...table.shape, paused, ignore }) as z.ZodType<CommonFields & WrittenFields>,
      summary,
      example,
      declare(_key, entry, context) {
        const declared = table.declare(entry, [], '');
        context.add({
          kind: name,
          key: '',
          path: [],
          fields: complete?.(declared) ?? declared,
          within: null,
          place: null,
          common: { paused: entry.paused, ignore: entry.ignore },
        });
      },
      describe: (actual, context) => context.resource(actual, table.describe(actual, context)),
    }),
  };
}
