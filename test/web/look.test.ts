/** The colors and icons of the page: complete, readable in both color schemes, and used by what needs them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import icons from '../../src/web/html/icons.json' with { type: 'json' };

const WEB = join(import.meta.dirname, '../../src/web');
const style = readFileSync(join(WEB, 'assets/style.css'), 'utf8');
const tokens = readFileSync(join(WEB, 'assets/tokens.css'), 'utf8');

const [light = '', dark = ''] = tokens.split('@media');
const valuesOf = (css: string) =>
  new Map([...css.matchAll(/(--[\w-]+): (.*?);/g)].map(([, name = '', value = '']) => [name, value]));
const LIGHT = valuesOf(light);
const DARK = new Map([...LIGHT, ...valuesOf(dark)]);

test('every rule is closed before the next one', () => {
  const open: string[] = [];
  const nested: string[] = [];
  for (const [, head = ''] of style.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/([^{};]*)[{}]/g)) {
    const rule = head.trim();
    if (rule === '') {
      open.pop();
    } else {
      nested.push(...(open.at(-1)?.startsWith('@') === false ? [rule] : []));
      open.push(rule);
    }
  }
  expect({ nested, open }).toEqual({ nested: [], open: [] });
});

test('every token that is used is defined', () => {
  const defined = new Set([...LIGHT.keys(), ...valuesOf(style).keys()]);
  const used = [...`${style}${tokens}`.matchAll(/var\((--[\w-]+)\)/g)].map(([, name = '']) => name);
  expect(used.filter((name) => !defined.has(name))).toEqual([]);
});

test('every icon that is used is in the sprite, and none is left over', () => {
  const sources = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const text = sources.map((name) => readFileSync(join(WEB, name), 'utf8')).join('\n');
  expect(Object.keys(icons).filter((name) => name !== '' && !text.includes(`'${name}'`))).toEqual([]);
  for (const [name, path] of Object.entries(icons)) {
    expect(path, name).toMatch(name === '' ? /MIT/ : /^[MmZzLlHhVvCcSsAaQqTt0-9., -]+$/);
  }
});

/** Text and what it is on. Source: docs/web-page.md#accessibility */
const TEXTS = [
  ['--fgColor-default', '--bgColor-default'],
  ['--fgColor-default', '--bgColor-muted'],
  ['--fgColor-muted', '--bgColor-default'],
  ['--fgColor-muted', '--bgColor-muted'],
  ['--fgColor-link', '--bgColor-default'],
  ['--fgColor-link', '--bgColor-muted'],
  ['--fgColor-attention', '--bgColor-default'],
  ['--fgColor-danger', '--bgColor-default'],
  ['--fgColor-onEmphasis', '--bgColor-accent-emphasis'],
  ['--fgColor-onEmphasis', '--bgColor-danger-emphasis'],
  ['--fgColor-default', '--button-default-bgColor-rest'],
  ['--fgColor-default', '--diffBlob-additionWord-bgColor'],
  ['--fgColor-default', '--diffBlob-deletionWord-bgColor'],
  ['--fgColor-default', '--bgColor-accent-muted'],
  ['--fgColor-default', '--bgColor-danger-muted'],
] as const;
/** Shapes that carry meaning. */
const SHAPES = [
  ['--fgColor-success', '--bgColor-default'],
  ['--fgColor-accent', '--bgColor-default'],
  ['--borderColor-emphasis', '--bgColor-default'],
  ['--borderColor-attention-emphasis', '--bgColor-default'],
  ['--borderColor-danger-emphasis', '--bgColor-default'],
  ['--focus-outlineColor', '--bgColor-default'],
] as const;

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
])('in the %s scheme', (_scheme, values) => {
  const resolve = (name: string): string => {
    const value = values.get(name) ?? '';
    const [, other] = /^var\((--[\w-]+)\)$/.exec(value) ?? [];
    return other === undefined ? value : resolve(other);
  };
  /** Returns the channels of a color, over the background of the page if it is transparent. */
  const channels = (name: string): number[] => {
    const [, hex = '', alpha = 'ff'] = /^#([0-9a-f]{6})([0-9a-f]{2})?$/.exec(resolve(name)) ?? [];
    const own = [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    const part = Number.parseInt(alpha, 16) / 255;
    const below = part === 1 ? own : channels('--bgColor-default');
    return own.map((value, at) => value * part + (below[at] as number) * (1 - part));
  };
  const luminance = (name: string) => {
    const [r = 0, g = 0, b = 0] = channels(name).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a: string, b: string) => {
    const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };

  test.each(TEXTS)('%s can be read on %s', (text, back) => {
    expect(contrast(text, back)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(SHAPES)('%s can be seen on %s', (shape, back) => {
    expect(contrast(shape, back)).toBeGreaterThanOrEqual(3);
  });
});
