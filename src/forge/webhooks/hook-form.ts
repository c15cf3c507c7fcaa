/** Fields to fill in at a forge to create the webhook of a repository. */
import type { ForgeName } from '../pull-request.ts';

/** Form of a forge for a new webhook. */
export interface HookForm {
  /** Name of the forge. */
  readonly label: string;
  /** Path to the form in the forge's interface. */
  readonly place: string;
  readonly fields: readonly (readonly [label: string, value: string])[];
  /** Permission of a token that creates webhooks. */
  readonly permission: string;
}

const SECRET = 'the value of forge.webhookSecret';

/** Returns the form of a forge. `isSigningToken`: the secret is a signing token of GitLab. */
export function hookForm(forge: ForgeName, url: string, isSigningToken: boolean): HookForm {
  switch (forge) {
    case 'github':
      return {
        label: 'GitHub',
        place: 'Settings > Webhooks > Add webhook',
        fields: [
          ['Payload URL', url],
          ['Content type', 'application/json'],
          ['Secret', SECRET],
          ['Events', 'Just the push event'],
        ],
        permission: 'Webhooks: read and write (fine-grained), or admin:repo_hook (classic)',
      };
    case 'gitlab':
      return {
        label: 'GitLab',
        place: 'Settings > Webhooks > Add new webhook',
        fields: [
          ['URL', url],
          [isSigningToken ? 'Signing token' : 'Secret token', SECRET],
          ['Trigger', 'Push events and Tag push events'],
        ],
        permission: 'the role Maintainer, with the scope api',
      };
    case 'gitea':
      return {
        label: 'Gitea or Forgejo',
        place: 'Settings > Webhooks > Add webhook > Gitea or Forgejo',
        fields: [
          ['Target URL', url],
          ['HTTP method', 'POST'],
          ['Content type', 'application/json'],
          ['Secret', SECRET],
          ['Trigger on', 'Push events'],
        ],
        permission: 'write:repository, by an administrator of the repository',
      };
    case 'bitbucket':
      return {
        label: 'Bitbucket',
        place: 'Repository settings > Webhooks > Add webhook',
        fields: [
          ['Title', 'Octavo'],
          ['URL', url],
          ['Secret', SECRET],
          ['Triggers', 'Repository push'],
        ],
        permission: 'Webhooks: read and write (webhook), by an administrator of the repository',
      };
  }
}
