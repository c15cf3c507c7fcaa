import { TransientError } from '../core/errors.ts';
import { TimeoutError } from '../queue/errors.ts';

/** Why no connection came about, in words; nothing was sent then. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EADDRNOTAVAIL: 'the address is not available',
};

const SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** What went wrong on the network, in words for a person. `answered`: headers had come in already. */
export function networkError(error: unknown, origin: string, answered = false): TransientError {
  const code = codeOf(error);
  const options = { cause: error };
  if (!answered) {
    const reason = UNREACHED[code];
    if (reason !== undefined) {
      return new TransientError(`cannot reach ${origin}: ${reason}`, false, options);
    }
    if (code === 'UND_ERR_CONNECT_TIMEOUT') {
      return new TimeoutError(`cannot reach ${origin}: no connection in time`, false, options);
    }
    if (isCertificateTrouble(code)) {
      return new TransientError(`cannot reach ${origin}: its certificate is not trusted (${code})`, false, options);
    }
  }
  if (SLOW.has(code)) {
    return new TimeoutError(`${origin} did not answer in time`, true, options);
  }
  const what = answered ? 'broke off in the middle of an answer' : 'closed the connection without an answer';
  return new TransientError(`${origin} ${what}${code === '' ? '' : ` (${code})`}`, true, options);
}

function isCertificateTrouble(code: string): boolean {
  return code.startsWith('ERR_TLS_') || code.includes('CERT') || code.startsWith('UNABLE_TO_');
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') {
    return code;
  }
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
