/** State of the daemon that views are made from. */
export type { ActionHandlers, Backend, OrganizationState } from './model/backend.ts';
