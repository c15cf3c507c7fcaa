import { ok } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';

/** `GET /v1/` (supplement, section 7). */
export const platformOperations: readonly Operation[] = [
  operation({
    name: 'getVersion',
    method: 'GET',
    path: '/',
    handle: () => ok({ version: '0.146.0', build: 'emulator' }),
  }),
];
