import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../src/config/config.ts';
import { isSecretSetting } from '../../src/config/secrets.ts';
import type { Path } from '../../src/config/values.ts';

/** Returns the paths of the settings that are marked as secret; a list or a mapping has one item. */
function secretPaths(schema: z.core.$ZodType, path: Path = []): readonly Path[] {
  const own = z.globalRegistry.get(schema)?.secret === true ? [path] : [];
  if (schema instanceof z.ZodObject) {
    return [...own, ...Object.entries(schema.shape).flatMap(([name, each]) => secretPaths(each, [...path, name]))];
  }
  const inner: readonly z.core.$ZodType[] =
    schema instanceof z.ZodArray
      ? [schema.element]
      : schema instanceof z.ZodRecord
        ? [schema.valueType]
        : schema instanceof z.ZodUnion
          ? schema.options
          : schema instanceof z.ZodPipe
            ? [schema.in, schema.out]
            : 'innerType' in schema._zod.def
              ? [schema._zod.def.innerType as z.core.$ZodType]
              : [];
  const isItem = schema instanceof z.ZodArray || schema instanceof z.ZodRecord;
  return [...own, ...inner.flatMap((each) => secretPaths(each, isItem ? [...path, 0] : path))];
}

test('every secret of the schema is redacted by its name', () => {
  const paths = secretPaths(configSchema([]));
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !isSecretSetting(path)).map((path) => path.join('.'))).toEqual([]);
});
