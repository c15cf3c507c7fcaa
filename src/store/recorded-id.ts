import type { OrganizationRecord } from './store.ts';

/**
 * Returns the id on the platform for a name in the settings: that of the resource of this kind that was applied under
 * this key, otherwise the name itself. Throws StoreError.
 */
export async function recordedId(
  record: Pick<OrganizationRecord, 'read'>,
  kind: string,
  name: string,
): Promise<string> {
  const { entries } = await record.read();
  return entries.find(({ address }) => address === `${kind}/${name}`)?.id ?? name;
}
