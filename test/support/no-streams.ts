import type { Transport } from '../../src/platform/http/transport.ts';

/** Stream function for test transports that receive no streaming requests. */
export const noStreams: Pick<Transport, 'open'> = {
  open: () => Promise.reject(new Error('this transport has no streams')),
};
