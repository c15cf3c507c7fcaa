import type { RequestClass } from '../model/request.ts';

/** Permit of a request in flight, returned by the rate limiter when the request is sent. */
export interface Permit {
  readonly call: { readonly class: RequestClass; readonly name: string };
  /** Rate-limit key under which the request was sent. */
  readonly limitKey: string;
  /** Monotonic milliseconds. */
  readonly sentAt: number;
  /** True if the request was sent as a probe, to learn the budget. */
  readonly probe: boolean;
}
