/** Registry of all kinds. */
import { agentInstructions } from './agent-instructions.ts';
import { collection } from './collection.ts';
import { member } from './member.ts';
import type { Kind } from './model/kind.ts';
import { openapi } from './openapi.ts';
import { organization } from './organization.ts';
import { saml } from './saml.ts';
import { externalLink } from './site/external-link.ts';
import { mcpServer } from './site/mcp-server.ts';
import type { StructurePart } from './site/part.ts';
import { redirects } from './site/redirect-entries.ts';
import { section } from './site/section.ts';
import { sectionGroup } from './site/section-group.ts';
import { shareLink } from './site/share-link.ts';
import { siteKind } from './site/site.ts';
import type { SiteItems } from './site/site-items.ts';
import { siteSpace } from './site/site-space.ts';
import { space } from './space.ts';
import { team } from './team.ts';
import { translation } from './translation.ts';

/** Kinds inside a site, in the order in which the schema of its structure lists them. */
export const parts: readonly StructurePart[] = [section, sectionGroup, externalLink, siteSpace];

/** Kinds of items that a site has in no order. */
const siteItems: readonly SiteItems[] = [mcpServer, shareLink, redirects];

/** All kinds, each after those that it refers to. This is the only list of them. */
export const kinds: readonly Kind[] = [
  member,
  team,
  saml,
  collection,
  space,
  openapi,
  translation,
  agentInstructions,
  siteKind(parts, siteItems),
  ...inOrder(parts.map(({ kind }) => kind)),
  ...siteItems.map(({ kind }) => kind),
  organization,
];

/** Sorts kinds so that each comes after the kinds in the list that it depends on. */
function inOrder(list: readonly Kind[]): readonly Kind[] {
  const sorted: Kind[] = [];
  const add = (kind: Kind): void => {
    for (const other of list.filter(({ name }) => kind.dependsOn.includes(name))) {
      add(other);
    }
    if (!sorted.includes(kind)) {
      sorted.push(kind);
    }
  };
  list.forEach(add);
  return sorted;
}
