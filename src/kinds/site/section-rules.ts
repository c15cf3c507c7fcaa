/** Rules between sections and site spaces: the space of a new section, and slots that must be vacant. */
import { type Address, kindOf } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { canonicalJson, type Json } from '../../core/json.ts';
import type { Fields } from '../../core/resource.ts';
import { Ref } from '../model/request.ts';

/** Returns the site spaces that a section declares, in order. */
export function spacesOf(fields: Fields): readonly Address[] {
  return Array.isArray(fields.spaces) ? (fields.spaces as Address[]) : [];
}

/** Returns the site space for creating a section: its default, or else the first that can be created. */
export function seedOf(section: Change, creation: (address: Address) => Change | undefined) {
  const spaces = spacesOf(section.declared);
  const wanted = section.declared.default;
  const order = typeof wanted === 'string' ? [wanted, ...spaces] : spaces;
  const address = order.find((each) => creation(each) !== undefined) ?? spaces[0] ?? '';
  return { address, space: spaceRef(creation(address)?.declared.space) };
}

/** Returns a reference to a space: the space itself, or the result of a translation. */
export function spaceRef(address: Json | undefined): Ref {
  const space = String(address);
  return new Ref(kindOf(space) === 'translation' ? `${space}#result` : space);
}

/** Slot for the sections of a site, which has either sections or spaces at the top level. */
export function sectionsSlot(site: Address | null): string {
  return `${site} sections`;
}

/** Slot for a space or a path at the top level of a site. */
export function siteSlot(site: Address | null, by: 'space' | 'path', value: Json | undefined): string {
  return `${site} ${by} ${canonicalJson(value)}`;
}
