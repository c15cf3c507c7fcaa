/** Checks of `octavo doctor` for features that differ between versions of the platform. */
import { messageOf, RejectedError } from '../../core/errors.ts';
import type { Reader } from '../../platform/client.ts';
import {
  isSection,
  isSectionGroup,
  isSiteSpace,
  operations,
  type StructureItem,
} from '../../platform/operations/index.ts';

/** Result of a check. */
export interface Finding {
  readonly verdict: 'good' | 'warn' | 'bad';
  readonly what: string;
  readonly detail: string;
}

/** Checks one feature with reads only. A failed read is a finding, too. */
export type FeatureCheck = (reader: Reader) => Promise<Finding>;

/** Features that differ between versions of the platform. Source: docs/platform-notes.md#changes-by-version */
export const FEATURES: readonly FeatureCheck[] = [
  feature('spaces', (reader) => reader.get(operations.listSpaces, { query: { limit: 1 } }), 'spaces can be listed'),
  feature(
    'openapi',
    (reader) => reader.get(operations.listOpenApiSpecs, { query: { limit: 1 } }),
    'OpenAPI specifications are supported',
  ),
  feature(
    'translations',
    (reader) => reader.get(operations.listTranslations, { query: { limit: 1 } }),
    'translations are supported',
  ),
  feature(
    'saml',
    (reader) => reader.get(operations.listSamlProviders, { query: { limit: 1 } }),
    'SAML providers are supported',
  ),
];

/** Returns a check that reports a feature as missing if its read responds with 404. */
function feature(
  what: string,
  read: (reader: Reader) => Promise<unknown>,
  has: string,
  lacks = 'not supported by this platform',
): FeatureCheck {
  return async (reader) => {
    try {
      await read(reader);
      return good(what, has);
    } catch (error) {
      return error instanceof RejectedError && error.status === 404
        ? note(what, lacks)
        : { verdict: 'bad', what, detail: messageOf(error) };
    }
  };
}

export function good(what: string, detail: string): Finding {
  return { verdict: 'good', what, detail };
}

export function note(what: string, detail: string): Finding {
  return { verdict: 'warn', what, detail };
}

/** Checks features that only a site shows, on the first site. */
export async function siteFindings(reader: Reader): Promise<readonly Finding[]> {
  const { items } = await reader.get(operations.listSites, { query: { limit: 1 } });
  const [site] = items;
  if (site === undefined) {
    return [good('sites', 'the organization has no sites yet')];
  }
  const path = { siteId: site.id };
  let structure: readonly StructureItem[] = [];
  const readStructure = feature(
    'sites',
    async (each) => {
      ({ structure } = await each.get(operations.getSiteStructure, { path }));
    },
    'a site and its structure can be read',
  );
  const readGroups = feature(
    'section groups',
    (each) => each.get(operations.listSiteFindings, { path, query: { limit: 1 } }),
    'sections join a group through a section update (0.181 and later)',
    'sections join a group through the group operations (before 0.181)',
  );
  const [sites, groups] = await Promise.all([readStructure(reader), readGroups(reader)]);
  const agents = site.agentsContext
    ? good('agentsContext', 'sites have an agent visibility setting')
    : note('agentsContext', 'not supported by this platform (removed in 0.167); leave it out of manifests');
  return [
    sites,
    // Only a write shows which operations exist; the first move in a pass finds out, regardless of this finding.
    groups.verdict === 'warn' ? good(groups.what, groups.detail) : groups,
    agents,
    ...structureFindings(structure),
  ];
}

/** Derives features from the items of a site structure. */
function structureFindings(structure: readonly StructureItem[]): readonly Finding[] {
  const items = [...itemsOf(structure)];
  const [space] = items.filter(isSiteSpace);
  const links = items.filter(({ object }) => object === 'site-external-link').length;
  const findings: Finding[] = [];
  if (space !== undefined) {
    findings.push(
      typeof space.hidden === 'boolean'
        ? good('hidden', 'site spaces can be hidden')
        : note('hidden', 'not reported by the platform; before 0.167 site spaces cannot be hidden'),
    );
  }
  if (links > 0) {
    const words = links === 1 ? '1 external link' : `${links} external links`;
    findings.push(
      good(
        'external links',
        `${words} on the first site; manifests do not declare them, and they keep their positions`,
      ),
    );
  }
  return findings;
}

function* itemsOf(items: readonly StructureItem[]): Generator<StructureItem> {
  for (const item of items) {
    yield item;
    if (isSectionGroup(item)) {
      yield* itemsOf(item.children ?? []);
    } else if (isSection(item)) {
      yield* item.siteSpaces ?? [];
    }
  }
}

/** Checks link listings, which only a space has, on the first space. */
export async function linkListings(reader: Reader): Promise<readonly Finding[]> {
  const { items } = await reader.get(operations.listSpaces, { query: { limit: 1 } });
  const spaceId = items[0]?.id;
  if (spaceId === undefined) {
    return [];
  }
  const check = feature(
    'link listings',
    (each) => each.get(operations.listSpaceLinks, { path: { spaceId }, query: { limit: 1 } }),
    'links and backlinks can be listed',
    'not supported by this platform (removed in 0.201); not needed by Octavo',
  );
  return [await check(reader)];
}
