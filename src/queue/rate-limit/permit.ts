import type { RequestClass } from '../model/request.ts';

/** One request in flight. */
export interface Permit {
  readonly call: { readonly class: RequestClass; readonly name: string };
  /** The lane it was sent in. */
  readonly lane: string;
  readonly sentAt: number;
  /** It was sent to learn the budget. */
  readonly probe: boolean;
}
