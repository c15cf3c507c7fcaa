/** Configurations that cannot be used, so that earlier settings stay in use: for every page and for `octavo fleet status`. */
import { smallest } from '../../core/lists.ts';
import { counted } from '../../plan/render/words.ts';
import { isoTime } from './words.ts';

/** Files of the configuration that cannot be used, so that earlier settings stay in use. */
export interface ConfigurationProblem {
  /** One line for each problem, such as `config.yaml:3:8: prune: "some" is not valid`. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Time at which the configuration in use was read, in milliseconds since the epoch. */
  readonly usedSince: number;
  /** True if only organization files are invalid, and everything else is in use. */
  readonly isPartial: boolean;
}

/** Problem of one process. Each replica of a fleet has files of its own. */
export interface ReplicaConfigurationProblem extends ConfigurationProblem {
  /** Host name and process id of the replica; null: there is no fleet. */
  readonly replica: string | null;
}

export type ConfigurationView = ReturnType<typeof configurationViews>[number];

/** Describes the problems; replicas with the same problems are described together. */
export function configurationViews(
  problems: readonly ReplicaConfigurationProblem[],
  isVisible: () => { readonly seesAll: boolean },
) {
  const groups = problems.length === 0 ? [] : [...Map.groupBy(problems, ({ reason }) => reason)];
  const seesAll = groups.length > 0 && isVisible().seesAll;
  return groups.map(([reason, members]) => {
    const [first = '', ...others] = reason.split('\n');
    return {
      /** Addresses of the replicas whose files have these problems; empty without a fleet. */
      replicas: members.flatMap(({ replica }) => replica ?? []).toSorted(),
      /** First problem, with its file and line; null: only people who may see every organization see it. */
      problem: seesAll ? first : null,
      /** Number of further problems. */
      more: others.length,
      since: isoTime(smallest(members.map(({ since }) => since))),
      /** Time at which the configuration in use was read. */
      usedSince: isoTime(smallest(members.map(({ usedSince }) => usedSince))),
      /** True if only organization files are invalid, and everything else is in use. */
      isPartial: members.every(({ isPartial }) => isPartial),
    };
  });
}

/** Describes what cannot be used: `The new configuration of host-1 42 cannot be used`. */
export function configurationHead({ replicas, isPartial }: ConfigurationView): string {
  const [first = '', ...others] = replicas;
  const of = others.length === 0 ? first : `${first} and ${counted(others.length, 'more replica')}`;
  const what = isPartial ? 'The files of some organizations' : 'The new configuration';
  return `${what}${of === '' ? '' : ` of ${of}`} cannot be used`;
}

/** Describes the first problem and the number of others; empty if the person may not see them. */
export function configurationDetail({ problem, more }: ConfigurationView): string {
  return problem === null ? '' : `${problem}${more === 0 ? '' : `, and ${counted(more, 'more problem')}`}`;
}

/** Describes what runs while organization files are invalid. */
export const PARTIAL_EFFECT = 'these organizations keep their last valid settings; those that have none do not run';
