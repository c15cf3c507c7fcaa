/** Words for the readers of a site and of what it shows, for plans. */
import { EVERYONE } from '../../core/change.ts';
import type { Fields } from '../../core/resource.ts';
import type { AccessRule, Grant } from '../../plan/model/rules.ts';
import { ofExisting } from '../model/fields.ts';

const WITH_LINK = 'everyone with the secret link';
const WITH_TOKEN = 'every visitor with a token';

/** Returns the people who can read a site once it is published. */
export function readersOf({ visibility }: Fields): Grant {
  switch (visibility) {
    case 'public':
      return { who: EVERYONE, role: 'read, found by search engines', includes: 'all' };
    case 'unlisted':
      return { who: EVERYONE, role: 'read', includes: 'all' };
    case 'share-link':
      return { who: WITH_LINK, role: 'read' };
    case 'visitor-auth':
      return { who: WITH_TOKEN, role: 'read' };
    default:
      return { who: 'visitors, as the platform decides', role: 'read' };
  }
}

/** Access through the condition of an existing part: visitors who match it. */
export const conditionAccess = ofExisting(({ fields: { condition } }) => [
  typeof condition === 'string'
    ? { who: `visitors who match ${JSON.stringify(condition)}`, role: 'read' }
    : { who: 'every visitor', role: 'read', includes: 'all' },
]);

/** Access to a section. Its site spaces say who gains access to a new one, but are deleted with it. */
export const sectionAccess: AccessRule = (state) => {
  if (state.action !== 'delete') {
    return conditionAccess(state);
  }
  const site = state.before(state.within ?? '');
  return site?.published === true && Object.keys(state.fields).length > 0
    ? [{ who: readersOf(site).who, role: 'read' }]
    : [];
};

/** Access through a site space: readers of a site that is already published gain or lose the space. */
export const spaceAccess: AccessRule = ({ fields, otherFields, within, before, now }) => {
  const site = within ?? '';
  const current = now(site);
  const isSame = otherFields.space === fields.space;
  if (isSame || typeof fields.space !== 'string' || before(site)?.published !== true || current?.published !== true) {
    return [];
  }
  const section = typeof fields.section === 'string' ? now(fields.section) : null;
  const conditions = [fields.condition, section?.condition].filter((each) => typeof each === 'string');
  const { who } = readersOf(current);
  const matching =
    conditions.length === 0
      ? who
      : `${who}, if they match ${conditions.map((each) => JSON.stringify(each)).join(' and ')}`;
  return [{ who: matching, role: `read at ${site}`, to: fields.space }];
};
