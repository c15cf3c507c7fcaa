import { collection } from './collection.ts';
import { member } from './member.ts';
import type { Kind } from './model/kind.ts';
import { openapi } from './openapi.ts';
import { organization } from './organization.ts';
import { saml } from './saml.ts';
import { section } from './site/section.ts';
import { sectionGroup } from './site/section-group.ts';
import { site } from './site/site.ts';
import { siteSpace } from './site/site-space.ts';
import { space } from './space.ts';
import { team } from './team.ts';
import { translation } from './translation.ts';

/** Every kind there is, the only list of them: each comes after those it refers to. */
export const kinds: readonly Kind[] = [
  member,
  team,
  saml,
  collection,
  space,
  openapi,
  translation,
  site,
  sectionGroup,
  section,
  siteSpace,
  organization,
];
