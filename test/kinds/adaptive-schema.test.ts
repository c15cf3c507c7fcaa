import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adaptiveSchema } from '../../src/kinds/site/site.ts';
import { problemsIn } from './problems.ts';

/** The rules of the vendor's OpenAPI documents. Source: docs/platform-notes.md#adaptive-schema */
const vendorRules = ['0.146', '0.202'].map((version) => {
  const file = new URL(`../../node_modules/gitbook-api-${version}/spec/openapi.json`, import.meta.url);
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as { components: object };
  const ajv = new Ajv({ strict: false });
  ajv.addSchema({ $id: 'api', components });
  return ajv.compile({ $ref: 'api#/components/schemas/SiteAdaptiveJSONSchema' });
});

const description = fc.constantFrom('Plan', '', undefined);
const closed = fc.constantFrom(false, false, false, true, undefined);
const type = fc.constantFrom('boolean', 'string', 'number', 'array', 'object', 'date', undefined);
const { claim } = fc.letrec<{ claim: object }>((tie) => ({
  claim: fc
    .record({
      type,
      description,
      enum: fc.option(fc.array(fc.constantFrom('a', 'b')), { nil: undefined }),
      items: fc.option(fc.record({ type, description }), { nil: undefined }),
      properties: fc.option(fc.dictionary(fc.constantFrom('a', 'b'), tie('claim'), { maxKeys: 2 }), { nil: undefined }),
      additionalProperties: closed,
      format: fc.constantFrom(undefined, undefined, 'date'),
    })
    .map((each) => JSON.parse(JSON.stringify(each)) as object),
}));
const schemas = fc
  .record({
    type: fc.constantFrom('object', 'object', 'string'),
    properties: fc.option(fc.dictionary(fc.constantFrom('vip', 'unsigned'), claim, { maxKeys: 2 }), { nil: undefined }),
    additionalProperties: closed,
  })
  .map((each) => JSON.parse(JSON.stringify(each)) as object);

test('accepts exactly the schemas that the documented format allows', () => {
  fc.assert(
    fc.property(schemas, (schema) => {
      const isTaken = adaptiveSchema.safeParse(schema).success;
      expect(vendorRules.map((rules) => rules(schema))).toEqual([isTaken, isTaken]);
    }),
    { numRuns: 2000 },
  );
});

async function problemsOf(files: Record<string, string>): Promise<readonly string[]> {
  return (await problemsIn(files)).map(({ file, line, message }) => `${file}:${line} ${message}`);
}

describe('a schema that the platform would refuse', () => {
  test('in a file is reported with all problems and their lines', async () => {
    const text = JSON.stringify(
      { type: 'object', properties: { vip: { type: 'boolean' }, unsigned: { type: 'object', properties: {} } } },
      null,
      2,
    );
    const problems = await problemsOf({
      'sites.yaml': 'sites:\n  help:\n    title: Help\n    adaptiveSchema: { file: visitor.json }\n',
      'visitor.json': text,
    });
    expect(problems).toEqual([
      expect.stringMatching(/visitor\.json:1: additionalProperties is required and must be false$/),
      expect.stringMatching(/^sites\.yaml:4 .*visitor\.json:4: properties\.vip\.description needs a description$/),
      expect.stringMatching(
        /visitor\.json:7: properties\.unsigned\.additionalProperties is required and must be false$/,
      ),
      expect.stringMatching(
        /visitor\.json:7: properties\.unsigned\.description must be "Unsigned claims of the site visitor\."$/,
      ),
    ]);
  });

  test('in a manifest is reported with its line', async () => {
    const problems = await problemsOf({
      'sites.yaml':
        'sites:\n  help:\n    title: Help\n    adaptiveSchema:\n      type: object\n      additionalProperties: false\n      properties:\n        plan:\n          type: string\n          description: Plan\n          format: date\n',
    });
    expect(problems).toEqual([expect.stringMatching(/^sites\.yaml:\d+ .*properties\.plan\.format is not supported/)]);
  });
});
