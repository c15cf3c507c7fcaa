import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { configSchema } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';

const TEXT = readFileSync(new URL('../../config.example.yaml', import.meta.url), 'utf8');

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly default?: unknown;
}
interface Setting {
  readonly path: string;
  readonly fallback: unknown;
}

interface Shown {
  readonly organizations: readonly [{ syncWindows: object[]; readonly conversations: { sources: object[] } }];
  readonly notifications: { routes: object[] };
}

/** Every setting of the schema; entries of a list are under `[0]`. */
function settingsOf(schema: JsonSchema, path = ''): Setting[] {
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
    return Object.entries(schema.properties).flatMap(([key, member]) =>
      settingsOf(member, path === '' ? key : `${path}.${key}`),
    );
  }
  if (schema.items?.properties !== undefined) {
    return settingsOf(schema.items, `${path}.0`);
  }
  return [{ path, fallback: schema.default }];
}

function at(values: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], values);
}

/** Settings with one member for each code, which docs/notifications.md lists. */
const BY_CODE = /^(notifications\.(?:for|templates))\..*$/;
const SETTINGS = [
  ...new Map(
    settingsOf(z.toJSONSchema(configSchema(kinds), { io: 'input', unrepresentable: 'any' }) as JsonSchema).map(
      ({ path, fallback }) => {
        const shown = path.replace(BY_CODE, '$1');
        return [shown, { path: shown, fallback }] as const;
      },
    ),
  ).values(),
];

describe('config.example.yaml', () => {
  test('is valid', () => {
    const config = loadConfig({
      text: TEXT,
      file: 'config.example.yaml',
      env: { OCTAVO_TOKEN: 'a-token' },
      readFile: () => '',
      kinds,
    });
    expect(config.organizations).toHaveLength(1);
  });

  test('shows every setting', () => {
    // "#name:" is a commented-out setting, "# Words" is prose.
    const active = TEXT.replace(/^( *)(\w+): (?:\[\]|\{\})\n(?=\1#\2:)/gm, '')
      .replace(/^( *)#(?=[a-z]+:)/gim, '$1')
      .replace(/^( *)#(?= {2,}(?:- )?[a-z_0-9]+:(?: |$))/gim, '$1')
      .replace(/^( *)#( {2,})#(?=(?:app|clientId|clientSecret|refreshToken):)/gm, '$1$2');
    const shown = parse(active) as Shown;
    const [organization] = shown.organizations;
    organization.syncWindows = [Object.assign({}, ...organization.syncWindows)];
    organization.conversations.sources = [Object.assign({}, ...organization.conversations.sources)];
    shown.notifications.routes = [Object.assign({}, ...shown.notifications.routes)];
    const missing = SETTINGS.filter(({ path }) => at(shown, path) === undefined).map(({ path }) => path);
    expect(missing).toEqual([]);
    expect(SETTINGS.length).toBeGreaterThan(25);
  });

  test('shows the defaults', () => {
    const values: unknown = parse(TEXT);
    for (const { path, fallback } of SETTINGS.filter(
      (setting) => !/syncWindows|sources|patterns|proxy|oidc|roles|quietHours|approveByComment/.test(setting.path),
    )) {
      if (fallback !== undefined) {
        expect({ path, value: at(values, path) }).toEqual({ path, value: fallback });
      }
    }
  });
});
