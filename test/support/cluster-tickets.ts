import type { Workspace } from './workspace.ts';

/**
 * Tickets about one blocking problem, each from a different person: the platform makes a cluster of high impact of
 * them.
 */
function ticketsAbout(topic: string, count = 3): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${topic.replaceAll(' ', '-')}-${index}`,
    subject: `${topic} is blocked`,
    parts: [{ type: 'message', role: 'user', body: `${topic} is completely broken and everything is down.` }],
    metadata: { url: `https://help.example/${index}` },
  }));
}

/** Sends the tickets and creates a space, so that there is a cluster and a space for its change request. */
export async function withCluster(
  work: Workspace,
  topic = 'Invoice export',
): Promise<{ cluster: string; space: string }> {
  const { id: space } = await work.call('POST', '/spaces', { title: 'Guides' });
  await work.call('POST', '/conversations', ticketsAbout(topic));
  const { items } = await work.call('GET', '/conversations-clusters');
  return { cluster: items[0].id, space };
}
