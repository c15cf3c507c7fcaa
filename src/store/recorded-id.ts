import type { OrganizationRecord } from './store.ts';

/**
 * The platform's id of what a name in the settings means: the resource of this kind that was applied under that key,
 * else the name is the id itself. Throws StoreError.
 */
export async function recordedId(
  record: Pick<OrganizationRecord, 'read'>,
  kind: string,
  name: string,
): Promise<string> {
  const { entries } = await record.read();
  return entries.find(({ address }) => address === `${kind}/${name}`)?.id ?? name;
}
