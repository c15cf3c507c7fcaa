/** Web page of a daemon in which every text from elsewhere is hostile. */
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { actual } from '../../support/planning.ts';
import { NOW, type OrganizationCase } from '../fake-daemon.ts';
import { hostileDaemon } from '../hostile-daemon.ts';
import { openPageApp, tokenEntry } from '../page-app.ts';

/** Names from right to left, with characters of no width, and with many marks on one letter. */
const SCRIPTS = [
  'مرحبا بالعالم',
  'שלום (עולם) 1',
  'a\u200bb\u200c\u200d\u2060',
  'Z\u0351\u036b\u0343\u036a\u0302\u036balgo',
  '👩‍👩‍👧 docs',
];
const TEXTS = [...HOSTILE_TEXTS, '"><script>evil()</script>', 'x'.repeat(2000), 'javascript:evil()', ...SCRIPTS];
const ONE = '<script>evil()</script>';
export const TOKEN = 'ana-token';

export interface HostilePage extends AsyncDisposable {
  readonly url: string;
  /** Paths of all pages, by name. */
  readonly paths: ReadonlyMap<string, string>;
}

/** Starts the server of the page. Its person is an approver with a hostile name. */
export async function startHostilePage(): Promise<HostilePage> {
  const { backend, handlers, checksum } = await hostileDaemon(TEXTS, { reconciled: reconciled() });
  const name = '<b>"Ana"</b> \u202e\u200bשלום';
  const { server } = await openPageApp({
    ui: { tokens: [tokenEntry(name, TOKEN)], roles: [{ role: 'approver', people: [name] }] },
    organizations: ['org_1'],
    handlers,
    backend: () => ({ ...backend, clock: { ...backend.clock, now: () => NOW } }),
  });
  const url = await server.listen();
  const at = (path: string) => `/o/org_1/${path}`;
  return {
    url,
    paths: new Map([
      ['organizations', '/'],
      ['organization', '/o/org_1'],
      ['resource', at('r/team/t-40')],
      ['deleted resource', at('r/team/gone-0')],
      ['plan', at(`plans/${encodeURIComponent(checksum)}`)],
      ['passes', at('history')],
      ['pass', at('history/2')],
      ['conversations', at('conversations')],
      ['dead letters', at('refused')],
      ['dead letter', at(`refused/${encodeURIComponent(ONE)}`)],
      ['clusters', at('questions')],
      ['cluster', at(`questions/${encodeURIComponent(ONE)}`)],
      ['audit of an organization', at('audit')],
      ['audit', '/audit'],
      ['conditions', '/alerts'],
      ['deliveries', '/deliveries'],
      ['budget', '/limits'],
      ['log', '/log'],
      ['page that does not exist', `/${encodeURIComponent(ONE)}`],
    ]),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A plan that updates and deletes teams, with texts that manifests can have. */
function reconciled(): OrganizationCase {
  const printable = (text: string) => text.replaceAll(/[\p{Cc}\p{Cs}\uFEFF\uFFFE\uFFFF\u2028\u2029]/gu, ' ');
  const quoted = (text: string) => JSON.stringify(printable(text).slice(0, 60).trim());
  const teams = TEXTS.map((text, index) => `  t-${index}: { title: ${quoted(`${index} ${text}`)} }`);
  const gone = [0, 1, 2].map((index) => `  gone-${index}: { title: gone ${index} }`);
  const keys = [...teams, ...gone].map((line) => line.slice(2, line.indexOf(':')));
  return {
    plan: {
      manifests: `teams:\n${teams.join('\n')}`,
      base: `teams:\n${[...teams, ...gone].join('\n')}`,
      ids: Object.fromEntries(keys.map((key) => [`team/${key}`, key])),
      actuals: keys.map((key, index) => actual('team', key, { title: TEXTS[index % TEXTS.length] ?? '' })),
      policy: { requireApproval: ['team'] },
    },
    end: { outcome: 'failed', error: new Error(TEXTS.join(' ')) },
  };
}
