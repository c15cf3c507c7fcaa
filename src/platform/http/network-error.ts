import { messageOf, NotThePlatformError, TransientError } from '../../core/errors.ts';
import { TimeoutError } from '../../queue/request.ts';

/** Messages for failed connections, where nothing was sent. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EADDRNOTAVAIL: 'the address is not available',
};

const SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/**
 * Converts a network error to an error with a readable message. `answered`: the headers had already arrived. Returns a
 * NotThePlatformError if another protocol responds, because retries would not help.
 */
export function networkError(error: unknown, origin: string, answered = false): TransientError | NotThePlatformError {
  const code = codeOf(error);
  const options = { cause: error };
  if (!answered) {
    const other = otherProtocol(error, code, origin);
    if (other !== null) {
      return new NotThePlatformError(other, options);
    }
    const proxy = proxyTrouble(error, code);
    if (proxy !== null) {
      return new TransientError(`cannot reach ${origin}: ${proxy}`, false, options);
    }
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
  // TLS servers, for example, close connections with plain HTTP.
  const hint =
    !answered && code === 'UND_ERR_SOCKET' && origin.startsWith('http:') ? '; if it speaks TLS, write https://' : '';
  return new TransientError(`${origin} ${what}${code === '' ? '' : ` (${code})`}${hint}`, true, options);
}

/** Describes a mix-up of HTTP and HTTPS; null for other errors. */
function otherProtocol(error: unknown, code: string, origin: string): string | null {
  if (/^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/.test(code)) {
    return `${origin} does not speak TLS on this port; check the scheme and the port of the base URL`;
  }
  return error instanceof Error && error.name === 'HTTPParserError'
    ? `${origin} does not respond with HTTP; if the port expects TLS, use https://`
    : null;
}

/** Describes the failure of a proxy; null for other errors. */
function proxyTrouble(error: unknown, code: string): string | null {
  if (code === 'UND_ERR_PRX_TLS' || code === 'UND_ERR_PRX_CONN') {
    return 'the proxy cannot be reached, or closed the connection (HTTPS_PROXY, HTTP_PROXY)';
  }
  const [, status] = /^Proxy response \((\d+)\) !== 200/.exec(messageOf(error)) ?? [];
  return status === undefined ? null : `the proxy refuses the connection (${status}; HTTPS_PROXY, HTTP_PROXY)`;
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
