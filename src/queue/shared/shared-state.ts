import type { Json } from '../../core/json.ts';

/** State that several replicas change, one after the other. */
export interface SharedState {
  /** Id of this replica. */
  readonly replica: string;
  /** Replaces the value of a name with the result of `change`. Throws if the state cannot be used. */
  update(name: string, change: (value: Json) => Json): Promise<void>;
}
