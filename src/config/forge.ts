/** Settings of the forge that hosts an organization's repository. See docs/commit-statuses.md. */
import * as z from 'zod';
import { choice, setting, text, token } from './model/settings.ts';
import { readBaseUrl } from './model/values.ts';

const FORGES = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
export type ForgeType = (typeof FORGES)[number];

/** Schema of the forge of one organization. */
export function forgeSchema() {
  return z.strictObject({
    /** Undefined: by the host of `source.git.url`. */
    type: choice(FORGES).optional(),
    /** Undefined: that of the host. */
    apiUrl: setting('the address of the API, such as https://git.acme.example/api/v4', readBaseUrl).optional(),
    /** Undefined: by the path of `source.git.url`. */
    repository: text('the repository, such as acme/docs').optional(),
    /** Undefined: no commit statuses. */
    token: token().optional(),
    statusContext: text('the name of the commit status, such as octavo/acme').optional(),
    /** Undefined: no deployments. */
    environment: text('the name of an environment, such as docs/acme').optional(),
    /** Undefined: no webhook. */
    webhookSecret: text(`the secret of the webhook, preferably as "\${env:NAME}" or "\${file:PATH}"`).optional(),
  });
}

/** Settings of a forge. */
export type ForgeConfig = Readonly<z.output<ReturnType<typeof forgeSchema>>>;
