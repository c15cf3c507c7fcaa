/** Page server whose people sign in with a provider of the test. */
import type { LightMyRequestResponse as Response } from 'fastify';
import { openPageApp, type PageApp, type PageAppSettings } from '../page-app.ts';
import type { LyingProvider } from './lying-provider.ts';

/** Page server with helpers for signing in. */
export interface ProviderPage extends PageApp {
  /** Begins a sign-in. Returns what the browser keeps and the provider is sent. */
  begin(): Promise<{ readonly answer: Response; readonly cookie: string; readonly sent: URLSearchParams }>;
  /** Signs in. Returns the answer to the redirect. */
  signIn(): Promise<Response>;
}

/** Cookies that an answer sets, as a browser sends them. */
export function cookiesOf({ headers }: Response): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .filter((cookie) => !cookie.endsWith('='))
    .join('; ');
}

const CLIENT = { clientId: 'octavo', clientSecret: 'secret-of-octavo' };

/** Opens a page server for a provider. */
export async function openProviderPage(
  provider: LyingProvider,
  { ui = {}, ...settings }: Partial<PageAppSettings> = {},
): Promise<ProviderPage> {
  const oidc = { issuer: provider.issuer, ...CLIENT, ...(ui.oidc as object | undefined) };
  const roles = [{ role: 'viewer', people: ['ana@acme.example'] }];
  const page = await openPageApp({ ...settings, ui: { publicUrl: 'http://localhost', roles, ...ui, oidc } });
  const begin = async () => {
    const answer = await page.get('/oidc/start?back=/o/acme');
    const sent = new URL(String(answer.headers.location ?? 'http://none')).searchParams;
    provider.sent = sent;
    return { answer, cookie: cookiesOf(answer), sent };
  };
  const signIn = async () => {
    const { cookie, sent } = await begin();
    return page.get(`/oidc/callback?code=a-code&state=${sent.get('state')}`, { cookie });
  };
  return { ...page, begin, signIn };
}
