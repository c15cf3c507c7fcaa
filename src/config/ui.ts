/** Settings of the web page. See docs/web-page.md#sign-in. */
import { BlockList, isIP } from 'node:net';
import * as z from 'zod';
import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { isLoopbackHost } from '../core/url.ts';
import type { ConfigDocument } from './document.ts';
import { isInsecure, isPlainHttp, PLAIN_HTTP_SETTING } from './secrets.ts';
import { choice, positive, secret, section, setting, text } from './settings.ts';
import { asList, asMapping, type Path, readBaseUrl, readListen, readText, textsAt } from './values.ts';

/** Roles of people, from the weakest. Each includes those before it. */
const ROLES = ['viewer', 'operator', 'approver'] as const;

const headerName = (what: string) =>
  setting(what, (value) => {
    const name = readText(value);
    return name !== undefined && /^[a-z0-9-]+$/i.test(name) ? name.toLowerCase() : undefined;
  });
const names = (expected: string) => z.array(text(expected));

/** Reads an address or a network, such as 10.0.0.0/8. */
function readNetwork(value: unknown): string | undefined {
  const [address = '', prefix, rest] = String(value).split('/');
  const family = isIP(address);
  const bits = prefix === undefined ? 0 : Number(prefix);
  const isValid = family !== 0 && rest === undefined && prefix !== '' && Number.isInteger(bits) && bits >= 0;
  return isValid && bits <= (family === 4 ? 32 : 128) ? String(value) : undefined;
}

/** Reads the SHA-256 of a token, in hexadecimal. */
function readSha256(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined;
}

const token = z.strictObject({
  name: text('the name of the person or program that has the token, such as ana@acme.example'),
  sha256: setting('the SHA-256 of the token, 64 hexadecimal digits', readSha256),
});

const proxy = z.strictObject({
  userHeader: headerName('the header with the user, such as x-forwarded-user'),
  groupsHeader: headerName('the header with the groups, such as x-forwarded-groups').optional(),
  from: z.array(setting('an address or a network, such as 10.0.0.0/8', readNetwork)).prefault([]),
  secretHeader: headerName('the header with the secret, such as x-proxy-secret').optional(),
  secret: secret('the secret that the proxy sends').optional(),
});

const oidc = z.strictObject({
  issuer: setting('the URL of the provider, such as https://login.acme.example', readBaseUrl),
  clientId: text('the id of the client'),
  clientSecret: secret('the secret of the client').optional(),
  scopes: names('a scope, such as email').prefault(['openid', 'email', 'profile']),
  groupsClaim: text('the claim with the groups, such as groups').prefault('groups'),
});

const role = z.strictObject({
  role: choice(ROLES),
  people: names('a name or an email, or "*" for everybody who is signed in').prefault([]),
  groups: names('a group').prefault([]),
  organizations: names('the id of an organization').optional(),
});

/** Schema of the settings of the web page. */
export function uiSchema() {
  return section({
    listen: setting('an address such as 127.0.0.1:8081', readListen).optional(),
    publicUrl: setting('the URL that people open, such as https://octavo.acme.example', readBaseUrl).optional(),
    hosts: names('a name in the Host header, such as octavo.internal').prefault([]),
    tokens: z.array(token).prefault([]),
    proxy: proxy.optional(),
    oidc: oidc.optional(),
    session: positive('the time until people have to sign in again, such as 8h').prefault('8h'),
    roles: z.array(role).prefault([]),
  });
}

/** Settings of the web page. */
export type UiConfig = Readonly<z.output<ReturnType<typeof uiSchema>>>;
/** Rights of people for some organizations; undefined: for all. */
export type RoleRule = UiConfig['roles'][number];

/** Returns the networks of addresses such as 10.0.0.0/8. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) {
      list.addAddress(address, family);
    } else {
      list.addSubnet(address, Number(prefix), family);
    }
  }
  return list;
}

/** Checks settings of the page that depend on each other. */
export function uiProblems(document: ConfigDocument): readonly Problem[] {
  const root = asMapping(document.values);
  const ui = asMapping(root.ui);
  const proxy = isObject(ui.proxy) ? ui.proxy : null;
  const isEncrypted = !isInsecure(document);
  const listen = readListen(ui.listen);
  const isPublic = listen !== undefined && !isLoopbackHost(listen.host);
  const hasSignIn = asList(ui.tokens).length > 0 || ui.proxy !== undefined || ui.oidc !== undefined;
  const isHalfSecret = (proxy?.secret === undefined) !== (proxy?.secretHeader === undefined);
  // A misspelled organization would only be noticed by those who miss it.
  const known = new Set(asList(root.organizations).map((each) => asMapping(each).id));
  const unknown = textsAt(ui, ['roles', '*', 'organizations', '*']).filter(([, id]) => !known.has(id));
  const found: readonly (readonly [isWrong: boolean, path: Path, message: string])[] = [
    [
      isPublic && !hasSignIn,
      ['listen'],
      'can be reached by other machines, and nobody has to sign in; set ui.tokens, ui.proxy or ui.oidc, or listen on 127.0.0.1',
    ],
    [
      (isPublic || ui.oidc !== undefined) && ui.publicUrl === undefined,
      [isPublic ? 'listen' : 'oidc'],
      'requires ui.publicUrl; set it to the URL that people open',
    ],
    [
      ui.proxy !== undefined && ui.oidc !== undefined,
      ['proxy'],
      'cannot be combined with ui.oidc; leave out one of them',
    ],
    [isHalfSecret, ['proxy'], 'requires both of secretHeader and secret, or none'],
    [
      proxy !== null && !isHalfSecret && asList(proxy.from).length === 0 && proxy.secret === undefined,
      ['proxy'],
      'requires from, the addresses of the proxy, or secretHeader and secret; anybody could send the header',
    ],
    ...unknown.map(([path, id]): [boolean, Path, string] => [
      true,
      path,
      `${JSON.stringify(id)} is not configured; use an id of organizations`,
    ]),
    [isEncrypted && isPlainHttp(ui.publicUrl), ['publicUrl'], PLAIN_HTTP_SETTING],
    [isEncrypted && isPlainHttp(asMapping(ui.oidc).issuer), ['oidc', 'issuer'], PLAIN_HTTP_SETTING],
  ];
  return found.filter(([isWrong]) => isWrong).map(([, path, message]) => document.problemAt(['ui', ...path], message));
}
