import { describe, expect, it } from 'vitest';
import { manifestJsonSchema } from '../../src/manifests/json-schema.ts';
import { manifestReference } from '../../src/manifests/reference-page.ts';
import { fakeKinds } from './fake-kinds.ts';

describe('the JSON Schema', () => {
  it('describes sections, keys and fields, and rejects others', () => {
    const schema = manifestJsonSchema(fakeKinds);
    expect(schema).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      additionalProperties: false,
      properties: {
        organization: { description: 'The organization.' },
        teams: {
          description: 'Teams of people.',
          anyOf: [
            {
              type: 'object',
              propertyNames: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' },
              additionalProperties: {
                anyOf: [
                  {
                    additionalProperties: false,
                    properties: {
                      title: { type: 'string', minLength: 2, maxLength: 64, description: 'What people call it.' },
                      membership: { enum: ['exact', 'additive'] },
                    },
                  },
                  { type: 'null' },
                ],
              },
            },
            { type: 'null' },
          ],
        },
      },
    });
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it('allows a file for a text', () => {
    expect(JSON.stringify(manifestJsonSchema(fakeKinds))).toContain('A file to read, relative to this manifest');
  });
});

describe('the reference page', () => {
  const page = manifestReference(fakeKinds);

  it.each([
    ['a section', '## teams\n\nTeams of people.'],
    ['an example', '```yaml\nteams:\n  writers:\n    title: Docs writers\n```'],
    ['limits', '| `title` | text, 2 to 64 characters; required | What people call it. |'],
    ['choices', '| `membership` | `exact`, `additive` | Whether others may be members. |'],
    ['null', '| `parent` | text, or `null` | The parent folder. |'],
    ['files', '| `note` | text, or `{ file: path }` |'],
    ['fields of items', '| `pages[].page` | text; required | Its key. |'],
    [
      'what every resource may have',
      '| `paused.reason` | text, 1 to 500 characters; required | The reason, shown in plans. |',
    ],
  ])('shows %s', (_what, text) => {
    expect(page).toContain(text);
  });

  it('describes the common fields once', () => {
    expect(page.match(/`renamedFrom`/g)).toHaveLength(1);
  });
});
