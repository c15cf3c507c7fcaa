import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';

const SECRET = 'a-secret-of-more-than-16-characters';

function load(forge: string, source = 'git: { url: https://github.com/acme/docs.git }'): string | null {
  const text = `platform: { token: t0ken-value }
organizations:
  - id: org_1
    source: { ${source} }
    forge: { ${forge} }
`;
  try {
    loadConfig({ text, file: 'config.yaml', env: {}, readFile: () => '', kinds });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the secret of a webhook', () => {
  test.each([
    [`webhookSecret: ${SECRET}`, undefined],
    [`webhookSecret: ${SECRET}, type: gitea`, 'git: { url: https://git.acme.example/acme/docs }'],
    [`webhookSecret: ${SECRET}, type: gitlab, repository: acme/docs`, 'git: { url: /srv/docs.git }'],
    [`webhookSecret: whsec_${Buffer.alloc(32).toString('base64')}, type: gitlab`, undefined],
  ])('%s is accepted', (forge, source) => {
    expect(load(forge, source)).toBeNull();
  });

  test.each([
    [`webhookSecret: ${SECRET}`, 'directory: /manifests', 'requires source.git'],
    [`webhookSecret: ${SECRET}`, 'git: { url: https://git.acme.example/acme/docs }', 'set forge.type'],
    [`webhookSecret: ${SECRET}`, 'git: { url: /srv/docs.git }', 'set forge.type and forge.repository'],
    ['webhookSecret: tiny-one', undefined, 'is shorter than 16 characters'],
    ['webhookSecret: whsec_not-a-signing-token, type: gitlab', undefined, 'is not a signing token'],
  ])('%s with %s is a problem', (forge, source, problem) => {
    const message = load(forge, source);
    expect(message).toContain('config.yaml:5:');
    expect(message).toContain('organizations[0].forge.webhookSecret');
    expect(message).toContain(problem);
    expect(message).not.toContain(SECRET);
  });
});
