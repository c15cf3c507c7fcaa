/** Facts about the fleet: organizations that no replica has. */
import { spanWords } from '../../plan/render/words.ts';
import type { Fact } from '../../store/notifications.ts';
import type { FleetState } from '../../web/model/backend.ts';
import { newFact } from './fact.ts';

/** Number of organizations that are conditions of their own. */
const MAX_ORGANIZATIONS = 100;

/** Returns a fact for each organization that no replica has. `platform`: origin of the platform. */
export function unownedFacts(
  fleet: { readonly unowned: readonly Pick<FleetState['unowned'][number], 'organization' | 'age'>[] } | null,
  platform: string,
  now: number,
): readonly Fact[] {
  return (fleet?.unowned ?? []).slice(0, MAX_ORGANIZATIONS).map(({ organization, age }) => {
    const since = age === null ? '' : ` for ${spanWords(age)}`;
    const summary = `No replica has had this organization${since}; check the replicas and the database`;
    const scope = { organization, token: null, platform };
    return newFact('unowned-organization', scope, { summary, since: now - (age ?? 0), path: '/replicas' });
  });
}
