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
