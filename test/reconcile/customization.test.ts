import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { getFeatures, type PlatformVersion } from '../../src/emulator/model/features.ts';
import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { openWorld, type World } from '../support/world.ts';

const site = (customization: string) => `sites: { help: { title: Help, customization: ${customization} } }`;
const BOLD = site('{ styling: { theme: bold, primaryColor: { light: "#ABCDEF" } }, trademark: { enabled: false } }');
const VERSIONS: readonly PlatformVersion[] = ['0.146', '0.167', '0.181', '0.201', '0.202'];

describe.each(VERSIONS)('the customization of a site, on platform %s', (version) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld({ features: getFeatures(version) });
  });
  afterEach(() => world.close());

  const path = async () => `/sites/${(await world.call('GET', '/sites')).items[0].id}/customization`;

  test('is written with what the platform has, in the pass that creates the site, and then compared', async () => {
    await world.apply(BOLD);
    const now = await world.call('GET', await path());
    expect(now).toMatchObject({
      styling: { theme: 'bold', primaryColor: { light: '#ABCDEF', dark: '#346DDB' }, corners: 'rounded' },
      trademark: { enabled: false },
      pagination: { enabled: true },
    });
    expect((await world.plan(BOLD)).plan.changes).toEqual([]);
  });

  test('keeps what others change elsewhere, and undoes what they change in a declared member', async () => {
    await world.apply(BOLD);
    const { updatedAt: _, ...now } = await world.call('GET', await path());
    const changed = { ...now, pagination: { enabled: false }, styling: { ...now.styling, theme: 'muted' } };
    await world.call('PUT', await path(), changed);
    const { plan } = await world.plan(BOLD);
    expect(plan.changes.flatMap(({ fields }) => fields)).toEqual([
      {
        path: 'customization',
        from: { styling: { theme: 'muted', primaryColor: { light: '#abcdef' } }, trademark: { enabled: false } },
        to: { styling: { theme: 'bold', primaryColor: { light: '#abcdef' } }, trademark: { enabled: false } },
      },
    ]);
    expect(renderPlanText(plan, { columns: 100, paint: PLAIN })).toContain(
      'customization.styling.theme  "muted" → "bold"',
    );
    await world.apply(BOLD);
    const after = await world.call('GET', await path());
    expect({ theme: after.styling.theme, pagination: after.pagination }).toEqual({
      theme: 'bold',
      pagination: { enabled: false },
    });
  });

  test('removes an optional member with null, and replaces a choice as a whole', async () => {
    const first = '{ favicon: { emoji: 1f4d8 }, announcement: { enabled: true, message: New, style: info } }';
    await world.apply(site(first));
    const icon = '{ icon: { light: "https://a.example/i.png", dark: "https://a.example/i.png" } }';
    const second = site(`{ favicon: ${icon}, announcement: null }`);
    await world.apply(second);
    const now = await world.call('GET', await path());
    expect(now).toMatchObject({ favicon: { icon: { light: 'https://a.example/i.png' } } });
    expect(now).not.toHaveProperty('announcement');
    expect(now.favicon).not.toHaveProperty('emoji');
    expect((await world.plan(second)).plan.changes).toEqual([]);
  });

  test('leaves out what this version does not have, with one line each', async () => {
    const all = site(
      '{ pdf: { enabled: false }, pageActions: { mcp: false, items: [pdf] }, socialAccounts: [], ai: { greeting: Hi }, trademark: { enabled: false } }',
    );
    await world.apply(all);
    const { plan } = await world.plan(all);
    const missing = plan.notes.map(({ text }) => /^customization\.(\S+) was not compared/.exec(text)?.[1]);
    expect(plan.changes).toEqual([]);
    const older = ['ai.greeting', 'pageActions.items', ...(version === '0.146' ? ['socialAccounts'] : [])];
    expect(missing.toSorted()).toEqual(version < '0.201' ? older : ['pageActions.mcp', 'pdf']);
    expect(await world.call('GET', await path())).toMatchObject({ trademark: { enabled: false } });
  });
});

test('a customization that is not declared is neither read nor written', async () => {
  const world = await openWorld();
  onTestFinished(() => world.close());
  await world.apply('sites: { help: { title: Help } }');
  await world.plan('sites: { help: { title: Help } }');
  expect(world.emulator.requests.entries.filter(({ operation }) => /Customization/.test(operation))).toEqual([]);
});

test('sites share a customization by an anchor and by a file', async () => {
  const world = await openWorld();
  onTestFinished(() => world.close());
  const manifests = {
    'octavo.yaml': `sites:
  a: { title: AA, customization: { styling: &brand { theme: bold } } }
  b: { title: BB, customization: { styling: *brand, trademark: { enabled: false } } }
  c: { title: CC, customization: { file: brand.yaml } }
`,
    'brand.yaml': 'styling: { theme: gradient }\n',
  };
  await world.apply(manifests);
  const stored = world.emulator.state().sites ?? [];
  expect(
    stored.map(({ title, customization }) => [title, (customization as never as { styling: object }).styling]),
  ).toMatchObject([
    ['AA', { theme: 'bold' }],
    ['BB', { theme: 'bold' }],
    ['CC', { theme: 'gradient' }],
  ]);
});

test.each([
  [
    '{ styling: { theme: bald } }',
    'octavo.yaml:1:66: site/help: customization.styling.theme must be one of clean, muted, bold, gradient, not "bald"; did you mean "bold"?',
  ],
  ['{ stylin: {} }', 'unknown field "stylin" in customization; did you mean "styling"?'],
  ['{ styling: null }', 'customization.styling cannot be cleared'],
  ['{ header: { links: [{ title: A, links: [] }] } }', 'customization.header.links[0].to is missing'],
  [
    '{ styling: { primaryColor: { light: blue } } }',
    'customization.styling.primaryColor.light "blue" is not of the form',
  ],
  ['{ header: { logo: { light: "javascript:alert(1)", dark: x } } }', 'customization.header.logo.dark'],
  ['{ __proto__: { polluted: true } }', '"__proto__" cannot be used as a key'],
  ['{ file: brand.yaml }', 'customization brand.yaml:2: styling.theme Invalid option'],
])('a customization %s is refused', async (customization, message) => {
  const world = await openWorld();
  onTestFinished(() => world.close());
  const manifests = { 'octavo.yaml': site(customization), 'brand.yaml': 'styling:\n  theme: bald\n' };
  const given = customization.includes('file') ? manifests : manifests['octavo.yaml'];
  await expect(world.plan(given)).rejects.toThrow(message);
});
