/** Secrets that manifests name as `${secret:NAME}`: their values, where each may be sent, and digests that tell a change. */
import { createHmac, hkdfSync } from 'node:crypto';
import { ConfigError } from './errors.ts';

/** A secret of the configuration. Source: docs/secrets.md#use-a-secret */
export interface SecretSetting {
  /** Undefined where this process does not have it, such as in a job of a pull request. */
  readonly value?: string | undefined;
  /** Addresses below which it may be sent. */
  readonly sendTo: readonly string[];
}

/** Name of a secret, in the configuration and in manifests. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/;

const REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,99})\}/g;

/** Characters of a secret that are removed even if the rest was cut off. */
const SHOWN_START = 6;

/** Returns the names of the secrets that a text refers to, in order. */
export function secretNames(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map(([, name = '']) => name);
}

/** Returns a text without its references to secrets. */
export function withoutSecretNames(text: string): string {
  return text.replace(REFERENCE, '');
}

/** The secrets of one organization. Only {@link fill} returns values. */
export class ManifestSecrets {
  readonly #settings: ReadonlyMap<string, SecretSetting>;
  readonly #key: Uint8Array;

  /**
   * @param token the organization's token for the platform, from which the key of the digests is derived.
   *   Source: docs/decisions/0052-secrets-of-manifests.md
   */
  constructor(settings: Readonly<Record<string, SecretSetting>> = {}, token = '') {
    this.#settings = new Map(Object.entries(settings));
    this.#key = new Uint8Array(hkdfSync('sha256', token, '', 'octavo secrets of manifests', 32));
  }

  /** Returns the keyed digest of a value; null if this process does not have it. */
  digest(name: string): string | null {
    const value = this.#settings.get(name)?.value;
    return value === undefined
      ? null
      : createHmac('sha256', this.#key).update(`${name}\n${value}`).digest('base64url').slice(0, 32);
  }

  /** Returns why a secret may not be sent to an address; null if it may, or if the configuration does not have it. */
  refusal(name: string, address: string): string | null {
    const setting = this.#settings.get(name);
    return setting === undefined || setting.sendTo.some((allowed) => isBelow(address, allowed))
      ? null
      : `the configuration does not allow to send the secret ${name} to ${originOf(address)}; use its own address, or add this one to manifestSecrets.${name}.sendTo`;
  }

  /** Replaces references with values, for a request that sends them to an address. Throws ConfigError, without a value. */
  fill(text: string, address: string): string {
    return text.replace(REFERENCE, (_, name: string) => {
      const value = this.#settings.get(name)?.value;
      const reason = this.refusal(name, address);
      if (value === undefined || reason !== null) {
        throw new ConfigError(
          reason ?? `the secret ${name} has no value here; set manifestSecrets.${name} in the configuration`,
        );
      }
      return value;
    });
  }

  /** Removes every value from a text, such as the platform's answer; also one that was cut off, or is escaped. */
  clean(text: string): string {
    let cleaned = text;
    for (const { value = '' } of this.#settings.values()) {
      for (const form of new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])) {
        cleaned = withoutValue(cleaned, form);
      }
    }
    return cleaned;
  }
}

function withoutValue(text: string, value: string): string {
  const start = value.slice(0, SHOWN_START);
  let cleaned = text;
  for (let at = cleaned.indexOf(start); start !== '' && at >= 0; at = cleaned.indexOf(start, at + 1)) {
    let length = start.length;
    while (length < value.length && cleaned[at + length] === value[length]) {
      length += 1;
    }
    cleaned = `${cleaned.slice(0, at)}[secret]${cleaned.slice(at + length)}`;
  }
  return cleaned;
}

/** Reports whether an address is an allowed one, or below its path. */
function isBelow(address: string, allowed: string): boolean {
  const [url, limit] = [URL.parse(address), URL.parse(allowed)];
  // An address that is not written as it is read could mean another place to the platform.
  const isPlain = url !== null && [address, `${address}/`].includes(url.href) && url.username + url.password === '';
  if (!isPlain || limit === null || url.origin !== limit.origin) {
    return false;
  }
  const folder = limit.pathname.replace(/\/$/, '');
  return url.pathname === folder || url.pathname.startsWith(`${folder}/`);
}

function originOf(address: string): string {
  return URL.parse(address)?.origin ?? 'an address that is not a URL';
}

/** Secrets of a process that has none. */
export const NO_SECRETS = new ManifestSecrets();
