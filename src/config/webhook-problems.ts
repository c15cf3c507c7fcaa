/** Checks the settings of the webhooks of repositories. See docs/webhooks.md. */
import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { readSigningKey } from '../core/standard-signature.ts';
import { type ForgeConfig, forgeSchema } from './forge.ts';
import { forgeTarget } from './forge-target.ts';
import type { ConfigDocument } from './model/document.ts';

/** Shortest secret of a webhook, in characters. */
const SHORTEST = 16;

/** Checks the settings of every organization. They use raw values, like all checks that involve several settings. */
export function webhookProblems(document: ConfigDocument): readonly Problem[] {
  const root = isObject(document.values) ? document.values : {};
  const organizations: readonly unknown[] = Array.isArray(root.organizations) ? root.organizations : [];
  return organizations.flatMap((organization, index) => {
    const forge = isObject(organization) ? forgeSchema().safeParse(organization.forge) : undefined;
    if (!isObject(organization) || forge?.success !== true || forge.data.webhookSecret === undefined) {
      return [];
    }
    const message = problemOf(forge.data, organization.source);
    return message === null ? [] : [document.problemAt(['organizations', index, 'forge', 'webhookSecret'], message)];
  });
}

function problemOf(forge: ForgeConfig, source: unknown): string | null {
  const secret = forge.webhookSecret ?? '';
  const url = isObject(source) && isObject(source.git) ? source.git.url : undefined;
  if (typeof url !== 'string') {
    return 'is for a webhook, which requires source.git; set it, or leave out the secret';
  }
  const { type, repository } = forgeTarget(forge, url);
  if (type === null || repository === null) {
    const needed = [...(type === null ? ['forge.type'] : []), ...(repository === null ? ['forge.repository'] : [])];
    return `is for a webhook of a forge that source.git.url does not tell; set ${needed.join(' and ')}`;
  }
  if (secret.length < SHORTEST) {
    return `is shorter than ${SHORTEST} characters; create one with openssl rand -hex 32`;
  }
  return type === 'gitlab' && secret.startsWith('whsec_') && readSigningKey(secret) === null
    ? 'is not a signing token; copy the token that GitLab shows, which is whsec_ followed by base64'
    : null;
}
