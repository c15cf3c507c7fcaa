import type { Json } from '../../core/json.ts';

/** State of a token that several replicas change, one after the other. */
export interface SharedState {
  /** Id of this replica. */
  readonly replica: string;
  /** Replaces the state with the result of `change`. Throws if it cannot be used. */
  update(change: (value: Json) => Json): Promise<void>;
}
