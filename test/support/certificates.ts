/** Certificates for tests, with a validity of 100 years and keys that protect nothing: created by openssl once. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface TestCertificate {
  readonly key: string;
  readonly cert: string;
  /** File of `cert`. */
  readonly path: string;
}

function read(name: string): TestCertificate {
  const path = (part: string) => fileURLToPath(new URL(`certificates/${name}.${part}.pem`, import.meta.url));
  return { key: readFileSync(path('key'), 'utf8'), cert: readFileSync(path('cert'), 'utf8'), path: path('cert') };
}

/** Certificate of localhost, 127.0.0.1 and 0.0.0.0. */
export const ADDRESSES = read('addresses');

/** Certificate of localhost, platform.example and forge.example, but of no address. */
export const NAMES = read('names');
