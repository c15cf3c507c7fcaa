/** What sections and site spaces know of each other: the space of a new section, and slots that must be vacant. */
import { type Address, kindOf } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { canonicalJson, type Json } from '../../core/json.ts';
import type { Fields } from '../../core/resource.ts';
import { Ref } from '../model/request.ts';

/** The site spaces that a section declares, in order. */
export function spacesOf(fields: Fields): readonly Address[] {
  return Array.isArray(fields.spaces) ? (fields.spaces as Address[]) : [];
}

/** The site space that a new section is created with: its default, else the first that can be created. */
export function seedOf(section: Change, creation: (address: Address) => Change | undefined) {
  const spaces = spacesOf(section.declared);
  const wanted = section.declared.default;
  const order = typeof wanted === 'string' ? [wanted, ...spaces] : spaces;
  const address = order.find((each) => creation(each) !== undefined) ?? spaces[0] ?? '';
  return { address, space: spaceRef(creation(address)?.declared.space) };
}

/** The space meant by a key: a space's own, or the one that a translation makes. */
export function spaceRef(address: Json | undefined): Ref {
  const space = String(address);
  return new Ref(kindOf(space) === 'translation' ? `${space}#result` : space);
}

/** The place of a site's sections: a site has either sections or spaces at the top. */
export function sectionsSlot(site: Address | null): string {
  return `${site} sections`;
}

/** The place of a space, or of a path, at the top of a site. */
export function siteSlot(site: Address | null, by: 'space' | 'path', value: Json | undefined): string {
  return `${site} ${by} ${canonicalJson(value)}`;
}
