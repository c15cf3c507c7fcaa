/** Texts that must not be shown, in every private place of a daemon. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMES } from '../../support/certificates.ts';
import type { Workspace } from '../../support/workspace.ts';
import { tokenEntry } from '../page-app.ts';
import type { PageSettings } from '../page-daemon.ts';

/** Token of the platform. */
export const PLATFORM_TOKEN = 'canary-platform-token-01';
/** Text of a ticket that is not redacted: only for operators, and only on the page of its dead letter. */
export const STORY = 'canary story of an export';
export const ROLES = ['viewer', 'operator', 'approver'] as const;

const PERSON = 'kim.canary@shop.example';
const FORMS_SECRET = `whsec_${Buffer.from('canary-forms-webhook-secret-0123').toString('base64')}`;
const CERTIFICATE = NAMES.cert.split('\n')[1] ?? '';

/** Everything that nobody may see, by its place. */
export const CANARIES: Readonly<Record<string, string>> = {
  'token of the platform': PLATFORM_TOKEN,
  'password in the address of a repository': 'canary-git-password-02',
  'token of Zendesk': 'canary-zendesk-token-03',
  'webhook secret of Zendesk': 'canary-zendesk-webhook-04',
  'token of GitHub': 'canary-github-token-05',
  'webhook secret of GitHub': 'canary-github-webhook-06',
  'key of a webhook': FORMS_SECRET,
  'secret of the OIDC client': 'canary-oidc-client-secret-07',
  'secret of the proxy': 'canary-proxy-secret-08',
  'variable of the environment': 'canary-environment-09',
  certificate: CERTIFICATE,
  'email of a customer': PERSON,
  'phone number of a customer': '+49 170 5550134',
  'card number of a customer': '4111 1111 1111 1111',
  'key in a ticket': `ghp_${'c4N4ry'.repeat(6)}`,
  'code of the provider': 'canary-code-10',
  'state of a sign-in': 'canary-state-11',
  'wrong token': 'canary-wrong-token-12',
  'secret of a manifest': 'canary-manifest-secret-13',
  ...Object.fromEntries(ROLES.map((role) => [`token of a ${role}`, `canary-token-of-${role}`])),
};

const canary = (place: string) => CANARIES[place] ?? '';

/** Writes manifests with a certificate, and tickets. The platform refuses the first ones. */
export function fillWorkspace({ repository, emulator, folder }: Workspace): void {
  repository.write('certs/okta.pem', NAMES.cert);
  repository.write(
    'a.yaml',
    `teams: { writers: { title: Writers } }
collections: { a: { title: A }, b: { title: B } }
sites: { help: { title: Help, mcpServers: { a: { name: A, url: "https://mcp.acme.example", headers: { X-Key: "\${secret:MCP}" } } } } }
saml:
  okta: { label: Okta, entityID: "https://okta.example/e", ssoURL: "https://okta.example/s", certificate: { file: certs/okta.pem }, defaultTeam: writers, defaultRole: read }
`,
  );
  repository.commit('Two');
  const drop = join(folder, 'drop');
  mkdirSync(drop);
  const parts = ['email of a customer', 'phone number of a customer', 'card number of a customer', 'key in a ticket'];
  const body = `${STORY}: ${parts.map(canary).join(', ')}.`;
  const ticket = (id: string) => ({
    id,
    subject: `Export ${id} of ${PERSON}`,
    parts: [{ type: 'message', role: 'user', body }],
  });
  writeFileSync(join(drop, 'one.json'), JSON.stringify([ticket('1'), ticket('2')]));
  emulator.setFaults([
    {
      match: { operation: 'createSiteMcpServer' },
      fault: { kind: 'status', status: 400, message: `No ${canary('secret of a manifest')}` },
      times: 2,
    },
    {
      match: { operation: 'ingestConversations' },
      fault: { kind: 'status', status: 400, message: `No ${PLATFORM_TOKEN}` },
      times: 3,
    },
  ]);
}

/** Settings of a daemon with every secret that the configuration can have. */
export function canarySettings({ folder, emulator }: Workspace, signIn: 'proxy' | 'oidc'): PageSettings {
  const tokens = ROLES.map((role) => tokenEntry(`${role}@acme.example`, `canary-token-of-${role}`));
  const baseUrl = 'http://127.0.0.1:9';
  const zendesk = {
    subdomain: 'acme',
    token: canary('token of Zendesk'),
    webhookSecret: canary('webhook secret of Zendesk'),
  };
  const github = {
    repositories: ['acme/docs'],
    token: canary('token of GitHub'),
    webhookSecret: canary('webhook secret of GitHub'),
  };
  const sources = [
    { name: 'drop', folder: { path: join(folder, 'drop') } },
    { name: 'help', zendesk: { ...zendesk, baseUrl } },
    { name: 'issues', github: { ...github, baseUrl } },
    { name: 'forms', webhook: { secrets: [FORMS_SECRET] } },
  ];
  const manifestSecrets = { MCP: { value: canary('secret of a manifest'), sendTo: ['https://mcp.acme.example'] } };
  const password = canary('password in the address of a repository');
  return {
    organization: { conversations: { sources, settleDelay: '0s' }, manifestSecrets },
    others: [{ id: 'org_unreachable', source: { git: { url: `http://ana:${password}@127.0.0.1:9/docs.git` } } }],
    top: { platform: { baseUrl: emulator.url, token: PLATFORM_TOKEN, insecure: true } },
    ui: {
      publicUrl: 'http://localhost',
      tokens,
      roles: ROLES.map((role) => ({ role, people: [`${role}@acme.example`] })),
      ...(signIn === 'proxy'
        ? { proxy: { userHeader: 'x-user', secretHeader: 'x-secret', secret: canary('secret of the proxy') } }
        : { oidc: { issuer: baseUrl, clientId: 'octavo', clientSecret: canary('secret of the OIDC client') } }),
    },
  };
}
