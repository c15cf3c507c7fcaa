import { ok } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import { versionOf } from '../versions.ts';

/** `GET /v1/` (supplement, section 7). */
export const platformOperations: readonly Operation[] = [
  operation({
    name: 'getVersion',
    method: 'GET',
    path: '/',
    handle: ({ features }) => ok({ version: `${versionOf(features)}.0`, build: 'emulator' }),
  }),
];
