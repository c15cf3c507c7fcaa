// Values that are kept although a finder matches them.

import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { ConfigError } from '../../core/errors.ts';
import { addressKey } from './contacts/street-addresses.ts';
import type { PrivateValue } from './model/found.ts';

/**
 * Predicate for values that are kept: values in any spelling, all email addresses of `@domain`, networks such as
 * `10.0.0.0/8`.
 */
export type AllowList = (found: Pick<PrivateValue, 'type' | 'key'>) => boolean;

/** Parses an allow list. Throws ConfigError for an empty entry and an invalid network. */
export function allowList(entries: readonly string[], regions: readonly string[]): AllowList {
  const values = new Set<string>();
  const domains: string[] = [];
  const networks = new BlockList();
  for (const entry of entries.map((each) => each.trim().normalize('NFC').toLowerCase())) {
    if (entry === '') {
      throw new ConfigError('redaction: an entry of the allow list is empty');
    }
    if (entry.startsWith('@')) {
      domains.push(entry.slice(1));
    } else if (/^[\da-f.:]+\/\d{1,3}$/.test(entry)) {
      addNetwork(networks, entry);
    } else {
      for (const spelling of spellingsOf(entry, regions)) {
        values.add(spelling);
      }
    }
  }
  return ({ type, key }) => {
    const value = key.toLowerCase();
    const isOfDomain = domains.some(
      (domain) => value.endsWith(`@${domain}`) || (value.includes('@') && value.endsWith(`.${domain}`)),
    );
    const isOfNetwork = type === 'ip' && networks.check(key, isIPv6(key) ? 'ipv6' : 'ipv4');
    return values.has(value) || (type !== 'secret' && isOfDomain) || isOfNetwork;
  };
}

function addNetwork(networks: BlockList, entry: string): void {
  const [address = '', bits = ''] = entry.split('/');
  try {
    networks.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  } catch (error) {
    throw new ConfigError(
      `redaction: ${JSON.stringify(entry)} in the allow list is not a network; use CIDR notation such as 10.0.0.0/8`,
      { cause: error },
    );
  }
}

/** Returns an entry verbatim and in the spelling of the keys of found values. */
function spellingsOf(entry: string, regions: readonly string[]): readonly string[] {
  const phones = [undefined, ...regions].flatMap((region) => {
    const number = parsePhoneNumberFromString(entry, region?.toUpperCase() as CountryCode | undefined);
    return number?.isPossible() === true ? [number.number] : [];
  });
  const six = isIPv6(entry) ? [new URL(`http://[${entry}]/`).hostname.slice(1, -1)] : [];
  const compact = entry.replaceAll(/[\s.-]/g, '');
  return [entry, addressKey(entry), ...phones, ...six, ...(/\d{6}/.test(compact) ? [compact] : [])];
}
