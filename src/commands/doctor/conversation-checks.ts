import type { ConversationsConfig } from '../../config/conversations.ts';
import type { Reader } from '../../platform/client.ts';
import { type ConversationsProbe, isMissingOperation } from '../../platform/conversations-probe.ts';
import { operations } from '../../platform/operations/index.ts';
import { type Finding, good, note } from './feature-checks.ts';

const WHAT = 'conversations';

/**
 * Reports whether the platform has conversations and issue clusters, or the context records, topics and findings (or
 * issues) of the configured site. Throws AppError. Source: docs/platform-notes.md#changes-by-version
 */
export async function conversationFindings(
  reader: Reader,
  { site, sources }: ConversationsConfig,
  probe: ConversationsProbe,
): Promise<readonly Finding[]> {
  if (await probe.has(reader)) {
    return [good(WHAT, 'conversations and issue clusters are supported')];
  }
  if (site === null) {
    const waits = sources.length === 0 ? '' : '; until then, conversations wait';
    const instead = `set conversations.site to a site that takes context records instead${waits}`;
    return [note(WHAT, `not supported by this platform (removed in 0.167); ${instead}`)];
  }
  const path = { siteId: site };
  if (!(await isThere(reader.get(operations.listSiteTopics, { path })))) {
    const known = 'a manifest key resolves only in the daemon that applied it';
    return [note(WHAT, `not supported by this platform, and no site has the id ${JSON.stringify(site)}; ${known}`)];
  }
  const query = { limit: 1 };
  const kinds = [
    ['findings', () => reader.get(operations.listSiteFindings, { path, query })],
    ['issues', () => reader.get(operations.listSiteIssues, { path, query })],
  ] as const;
  const found = good(WHAT, `context records of the site ${site}, and its topics for issue clusters`);
  for (const [name, read] of kinds) {
    if (await isThere(read())) {
      return [found, good('topics', `the ${name} of the site report their impact`)];
    }
  }
  return [found, note('topics', 'the site lists neither findings nor issues, so the impact of topics is unknown')];
}

async function isThere(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (isMissingOperation(error)) {
      return false;
    }
    throw error;
  }
}
