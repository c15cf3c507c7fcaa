/** Slots of a site that a deletion makes vacant for what is created: see `vacates` in the rules of kinds. */
import type { Address } from '../../core/address.ts';
import { canonicalJson, type Json } from '../../core/json.ts';

/** The place of a site's sections: a site has either sections or spaces at the top. */
export function sectionsSlot(site: Address | null): string {
  return `${site} sections`;
}

/** The place of a space, or of a path, at the top of a site. */
export function siteSlot(site: Address | null, by: 'space' | 'path', value: Json | undefined): string {
  return `${site} ${by} ${canonicalJson(value)}`;
}
