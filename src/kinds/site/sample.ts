/** Manifests that the samples of several kinds share. */

/** Two spaces to refer to. */
export const SPACES_SAMPLE = 'spaces: { one: { title: One, language: en }, two: { title: Two, language: de } }\n';

/** A section that is the same in every step. */
export const REST_SAMPLE = '{ section: rest, title: Rest, spaces: [{ key: e, space: two, path: e }] }';

/** A site with this structure, and the spaces that it can show. */
export function siteSample(structure: string): string {
  return `${SPACES_SAMPLE}sites: { help: { title: Help, structure: ${structure} } }\n`;
}
