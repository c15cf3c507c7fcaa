import * as z from 'zod';
import { headerOf, isJson, isSignedBy, jsonOfBody } from '../../../core/signature.ts';
import { refused, type Webhook, type WebhookResult } from '../../model/source.ts';
import { hintOf } from './hint.ts';

export interface GithubWebhookOptions {
  readonly name: string;
  readonly secret: string;
  /** Events of other repositories are ignored. */
  readonly repositories: readonly string[];
}

const EVENTS = new Set(['issues', 'issue_comment']);

const eventSchema = z.object({
  repository: z.object({ full_name: z.string() }),
  issue: z.object({ node_id: z.string(), number: z.number().int(), pull_request: z.unknown().optional() }),
});

/**
 * Webhook of GitHub, signed with the hexadecimal HMAC-SHA256 of the raw body. Every change of an issue is a hint, not
 * only its closing. Source: docs/helpdesk-notes.md#github
 */
export function githubWebhook({ name, secret, repositories }: GithubWebhookOptions): Webhook {
  const own = new Map(repositories.map((repository) => [repository.toLowerCase(), repository]));
  return {
    name,
    read({ headers, body }): WebhookResult {
      if (!isJson(headers)) {
        return refused(415, 'the content type is not application/json');
      }
      const signature = /^sha256=([0-9a-f]{64})$/.exec(headerOf(headers, 'x-hub-signature-256') ?? '')?.[1] ?? '';
      if (!isSignedBy([signature], { algorithm: 'sha256', secret, encoding: 'hex' }, body)) {
        return refused(401, 'the signature is missing or wrong');
      }
      const json = jsonOfBody(body);
      if (json === undefined) {
        return refused(400, 'the body is not JSON');
      }
      const delivery = headerOf(headers, 'x-github-delivery');
      if (!EVENTS.has(headerOf(headers, 'x-github-event') ?? '')) {
        return { kind: 'hints', delivery, ids: [] };
      }
      const event = eventSchema.safeParse(json);
      if (!event.success) {
        return refused(400, 'the body is not an issue event');
      }
      const { repository, issue } = event.data;
      const known = own.get(repository.full_name.toLowerCase());
      const ids = known === undefined || issue.pull_request != null ? [] : [hintOf(known, issue)];
      return { kind: 'hints', delivery, ids };
    },
  };
}
