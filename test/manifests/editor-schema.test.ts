import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { isObject } from '../../src/core/json.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { manifestJsonSchema } from '../../src/manifests/json-schema.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { manifestsOf } from '../support/model.ts';
import { openWorkspace } from '../support/workspace.ts';
import { declare } from '../support/world.ts';

type Schema = { readonly [member: string]: unknown };

const SEED = Number(process.env.OCTAVO_SEED ?? 20261121);

/** Returns all schemas inside a schema, with their paths. */
function schemasIn(schema: unknown, path = ''): readonly (readonly [string, Schema])[] {
  if (!isObject(schema)) {
    return [];
  }
  const named = ['properties', 'definitions'].flatMap((name) => Object.entries((schema[name] ?? {}) as object));
  const single = ['items', 'additionalProperties', 'propertyNames'].map((name) => [`<${name}>`, schema[name]] as const);
  const several = ['anyOf', 'oneOf', 'allOf'].flatMap((name) =>
    ((schema[name] ?? []) as unknown[]).map((each) => ['', each] as const),
  );
  return [
    [path, schema],
    ...[...named, ...single, ...several].flatMap(([name, inner]) =>
      schemasIn(inner, name === '' ? path : `${path}.${name}`),
    ),
  ];
}

/** Returns the alternatives of a field, without `null`. */
function alternatives(field: Schema): readonly Schema[] {
  const inner = field.anyOf ?? field.oneOf;
  return Array.isArray(inner) ? inner.flatMap(alternatives).filter(({ type }) => type !== 'null') : [field];
}

const whole = manifestJsonSchema(kinds) as Schema;
const fields = schemasIn(whole).flatMap(([path, schema]) =>
  Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(
    ([name, field]) => [`${path}.${name}`, field] as const,
  ),
);

/** Fields without an example, because the platform does not document their expression language. */
const UNKNOWN = '.expression';

describe('the JSON Schema of manifests', () => {
  test.each([...new Map(fields)])('%s has a description', (_path, field) => {
    const described = [field, ...alternatives(field)].some(({ description }) => typeof description === 'string');
    expect(described).toBe(true);
  });

  test.each([...new Map(fields)].filter(([path]) => !path.endsWith(UNKNOWN)))(
    '%s has an example unless it is an enum',
    (path, field) => {
      const open = alternatives(field).filter(
        ({ type, enum: few, examples, pattern }) =>
          ['string', 'number', 'integer'].includes(String(type)) &&
          few === undefined &&
          examples === undefined &&
          pattern === undefined,
      );
      expect(open, path).toEqual([]);
    },
  );

  test('examples and defaults are valid', () => {
    const { definitions } = whole;
    const shown = schemasIn(whole).flatMap(([path, schema]) =>
      [...((schema.examples ?? []) as unknown[]), ...('default' in schema ? [schema.default] : [])].map((value) => {
        const check = z.fromJSONSchema({ ...schema, ...(path === '' ? {} : { definitions }) } as never);
        return [path, value, check.safeParse(value).success] as const;
      }),
    );
    expect(shown.filter(([, , isValid]) => !isValid)).toEqual([]);
    expect(shown.length).toBeGreaterThan(50);
  });

  test('contains no internal notes', () => {
    const unknown = schemasIn(whole).flatMap(([, schema]) =>
      Object.keys(schema).filter((name) => ['refersTo', 'suggests'].includes(name)),
    );
    expect(unknown).toEqual([]);
  });
});

describe('with the keys of a repository', () => {
  const MANIFESTS = `teams: { writers: { title: Writers }, readers: { title: Readers } }
members: { ana@acme.example: { role: admin } }
collections: { handbook: { title: Handbook } }
spaces: { guides: { title: Guides }, api: { title: API } }
translations: { guides-fr: { space: guides, from: en, to: fr } }
sites: { help: { title: Help, structure: [{ section: start, title: Start, spaces: [{ key: en, space: guides }] }] } }
`;

  async function completed(manifests = MANIFESTS): Promise<Schema> {
    return manifestJsonSchema(kinds, (await declare(manifests)).keys()) as Schema;
  }

  function enumsAt(schema: Schema, end: string): unknown {
    const found = schemasIn(schema).filter(([path]) => path.endsWith(end));
    return found.flatMap(([, each]) => alternatives(each)).find((each) => each.enum !== undefined)?.enum;
  }

  test.each([
    ['saml.<additionalProperties>.defaultTeam', ['readers', 'writers']],
    ['spaces.<additionalProperties>.collection', ['handbook']],
    ['spaces.<additionalProperties>.duplicateOf', ['api', 'guides']],
    ['collections.<additionalProperties>.parent', ['handbook']],
    ['translations.<additionalProperties>.space', ['api', 'guides']],
    ['structure.<items>.spaces.<items>.space', ['api', 'guides', 'guides-fr']],
    ['structure.<items>.default', ['en']],
    ['sites.<additionalProperties>.default', ['en', 'start']],
    ['organization.defaultContent.site', ['help']],
    ['teams.<additionalProperties>.members.<propertyNames>', ['ana@acme.example']],
    ['rules.<items>.users.<items>', ['ana@acme.example']],
  ])('%s offers the declared keys', async (end, keys) => {
    expect(enumsAt(whole, end)).toBeUndefined();
    expect(enumsAt(await completed(), end)).toEqual(keys);
  });

  test('a reference must be a declared key, a person may be another, and unknown names are invalid', async () => {
    const check = z.fromJSONSchema((await completed()) as never);
    const isValid = (text: string) => check.safeParse(parse(text)).success;
    expect(isValid('saml: { okta: { label: Okta, defaultTeam: writers } }')).toBe(true);
    expect(isValid('saml: { okta: { label: Okta, defaultTeam: writer } }')).toBe(false);
    expect(isValid('teams: { writers: { title: Writers, members: { bo@acme.example: owner } } }')).toBe(true);
    expect(isValid('teams: { writers: { title: Writers, members: { nobody: owner } } }')).toBe(false);
    expect(isValid('teams: { writers: { titel: Writers } }')).toBe(false);
    expect(isValid('team: {}')).toBe(false);
  });

  test('every manifest is valid under its own schema', async () => {
    await fc.assert(
      fc.asyncProperty(twoModels, async ([model]) => {
        const manifests = manifestsOf(model);
        const files: Readonly<Record<string, string>> =
          typeof manifests === 'string' ? { 'a.yaml': manifests } : manifests;
        const declared = await declare(manifests);
        for (const keys of [null, declared.keys()]) {
          const check = z.fromJSONSchema(manifestJsonSchema(kinds, keys) as never);
          for (const [name, text] of Object.entries(files).filter(([path]) => path.endsWith('.yaml'))) {
            expect(check.safeParse(parse(text)).error, name).toBeUndefined();
          }
        }
      }),
      { seed: SEED, numRuns: 25 },
    );
  });
});

describe('octavo schema', () => {
  test('--repo reads the keys of manifests that have problems', async () => {
    await using work = await openWorkspace();
    work.repository.write(
      'docs/a.yaml',
      'teams:\n  writers: { tilte: Writers }\n  "no key": { title: No }\nsaml:\n  okta: { label: Okta, defaultTeam: gone }\n',
    );
    work.repository.write('docs/b.yaml', 'teams: { readers: { title: Readers } }\nspaces: [\n');
    const { code, stdout } = await work.inside(['schema', '--repo', 'docs']);
    const { properties } = JSON.parse(stdout) as { properties: Record<string, Schema> };
    expect(JSON.stringify(properties.saml)).toContain('"enum":["readers","writers"]');
    expect(code).toBe(0);
    const none = await work.inside(['schema', '--repo', 'nowhere']);
    expect([none.code, none.stderr]).toEqual([3, 'octavo: nowhere is not a directory; pass the manifest directory\n']);
  });
});
