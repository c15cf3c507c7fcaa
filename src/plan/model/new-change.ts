import type { Change } from '../../core/change.ts';
import type { Declared } from '../../core/resource.ts';

type Required = Pick<Change, 'action' | 'address' | 'kind' | 'fields'>;

/** Creates a change; members that are not given have their neutral value. */
export function newChange(change: Required & Partial<Change>): Change {
  return {
    id: null,
    source: null,
    dependsOn: [],
    held: null,
    approvable: false,
    paused: null,
    isReplacement: false,
    impact: '',
    weight: 0,
    declared: {},
    actual: {},
    within: null,
    place: null,
    anchor: null,
    ...change,
  };
}

/** Creates a change of a declared resource. */
export function changeOf(resource: Declared, change: Pick<Change, 'action' | 'fields'> & Partial<Change>): Change {
  const { address, kind, source, paused, within, place } = resource;
  return newChange({ address, kind, source, paused, within, place, ...change });
}
