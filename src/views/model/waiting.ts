/** Conversations and issue clusters that a person should see to. */
import { counted } from '../../plan/render/words.ts';
import type { OrganizationState } from './backend.ts';
import { organizationPath } from './paths.ts';

/** Something that a person should see to. */
export interface WaitingItem {
  readonly kind:
    | 'approval'
    | 'refused'
    | 'failed'
    | 'problems'
    | 'pause'
    | 'conversations'
    | 'dead-letters'
    | 'clusters';
  readonly text: string;
  readonly path: string;
}

/** Returns what a person should see to, in addition to plans and pauses. Throws StoreError. */
export async function waitingElsewhere(state: OrganizationState): Promise<readonly WaitingItem[]> {
  return [...(await inConversations(state)), ...inClusters(state)];
}

async function inConversations({ id, config, conversations }: OrganizationState): Promise<readonly WaitingItem[]> {
  if (config.conversations.sources.length === 0) {
    return [];
  }
  const { sources, sender } = await conversations.status();
  const letters = sources.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  const failing = sources.filter(({ error }) => error !== null);
  const path = organizationPath(id, '/conversations');
  const items: WaitingItem[] = [];
  if (sender.kind === 'refused') {
    items.push({ kind: 'conversations', text: `Conversations are not sent: ${sender.reason}`, path });
  }
  for (const { source, error } of failing) {
    items.push({ kind: 'conversations', text: `Source ${source} cannot be read: ${error}`, path });
  }
  if (letters > 0) {
    const text = `${counted(letters, 'dead letter')} ${letters === 1 ? 'was' : 'were'} refused by the platform`;
    items.push({ kind: 'dead-letters', text, path: organizationPath(id, '/dead-letters') });
  }
  return items;
}

function inClusters({ id, config, clusters }: OrganizationState): readonly WaitingItem[] {
  const { lastRun } = clusters.overview;
  if (!config.clusters.enabled || lastRun === null || lastRun.outcome !== 'failed') {
    return [];
  }
  const text = `The last run over issue clusters failed: ${lastRun.error ?? 'it was interrupted'}`;
  return [{ kind: 'clusters', text, path: organizationPath(id, '/clusters') }];
}
