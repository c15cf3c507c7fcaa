import type { Transport } from '../../src/platform/http/transport.ts';

/** For transports of tests that are asked nothing which is answered with a stream. */
export const noStreams: Pick<Transport, 'open'> = {
  open: () => Promise.reject(new Error('this transport has no streams')),
};
