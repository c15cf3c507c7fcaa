/** Network addresses, payment cards, bank accounts and social security numbers that pass their checks. */
import { isValidIBAN } from 'ibantools';
import type { Dice } from './dice.ts';

export function ipAddress(dice: Dice): string {
  if (dice.chance(0.3)) {
    return ipv6(dice);
  }
  for (;;) {
    const octets = [dice.pick([dice.int(1, 223), 10, 172, 192]), dice.int(0, 255), dice.int(0, 255), dice.int(1, 254)];
    // Loopback, link-local and multicast addresses are the same everywhere.
    if (octets[0] !== 127 && octets[0] !== 169 && octets.some((octet) => octet > 20)) {
      return octets.join('.');
    }
  }
}

function ipv6(dice: Dice): string {
  const prefix = dice.pick(['2001:db8', '2a02:8109', '2600:1f18', '2a01:4f8', '2404:6800', 'fd12:3456']);
  const group = () => dice.int(1, 0xffff).toString(16);
  return dice.pick([
    `${prefix}::${group()}`,
    `${prefix}:${group()}::${group()}`,
    `${prefix}:${group()}:${group()}::${group()}`,
    `${prefix}:${group()}:${group()}:${group()}:${group()}:${group()}:${group()}`,
  ]);
}

export function macAddress(dice: Dice): string {
  const pairs = Array.from({ length: 6 }, (_, index) =>
    index === 0
      ? dice.pick(['00', '3c', 'a4', '5c', 'f0', '08', '9c'])
      : dice.int(0, 255).toString(16).padStart(2, '0'),
  );
  const text = dice.pick([
    pairs.join(':'),
    pairs.join(':'),
    pairs.join('-'),
    `${pairs.slice(0, 2).join('')}.${pairs.slice(2, 4).join('')}.${pairs.slice(4).join('')}`,
  ]);
  return dice.chance(0.4) ? text.toUpperCase() : text;
}

function luhnDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

export function cardNumber(dice: Dice): string {
  const [prefix, length] = dice.pick<[string, number]>([
    ['4', 16],
    [String(dice.int(51, 55)), 16],
    [String(dice.int(2221, 2719)), 16],
    [dice.pick(['34', '37']), 15],
    ['6011', 16],
    [`35${dice.int(28, 89)}`, 16],
    [dice.pick(['300', '305', '36']), 14],
  ]);
  const body = prefix + dice.chars('digit', length - prefix.length - 1);
  const number = body + luhnDigit(body);
  const groups =
    length === 16
      ? /(\d{4})(\d{4})(\d{4})(\d{4})/
      : length === 15
        ? /(\d{4})(\d{6})(\d{5})()/
        : /(\d{4})(\d{6})(\d{4})()/;
  const separator = dice.pick(['', ' ', ' ', '-', '-']);
  return separator === ''
    ? number
    : number.replace(groups, ['$1', '$2', '$3', '$4'].join(separator)).replace(/\D$/, '');
}

/** Structure of the national part: A letter, N digit, X either. */
const IBANS: Readonly<Record<string, string>> = {
  DE: 'N18',
  FR: 'N10X11N2',
  ES: 'N20',
  IT: 'A1N10X12',
  NL: 'A4N10',
  BE: 'N12',
  AT: 'N16',
  CH: 'N5X12',
  GB: 'A4N14',
  PL: 'N24',
  PT: 'N21',
  SE: 'N20',
  DK: 'N14',
  NO: 'N11',
  FI: 'N14',
  CZ: 'N20',
  SK: 'N20',
  HU: 'N24',
  RO: 'A4X16',
  TR: 'N6X16',
  IE: 'A4N14',
  GR: 'N7X16',
  HR: 'N17',
  LT: 'N16',
  LV: 'A4X13',
  EE: 'N16',
  LU: 'N3X13',
  UA: 'N6X19',
  SA: 'N2X18',
  IL: 'N19',
  AE: 'N19',
};

/** An account number that passes the check of IBAN and those of its country. */
export function iban(dice: Dice): string {
  const country = dice.pick(Object.keys(IBANS));
  for (;;) {
    const national = (IBANS[country] ?? '').replaceAll(/([ANX])(\d+)/g, (_, kind: string, count: string) =>
      dice.chars(kind === 'A' ? 'upper' : kind === 'N' ? 'digit' : 'upperDigit', Number(count)),
    );
    const numeric = [...`${national}${country}00`].map((character) => Number.parseInt(character, 36)).join('');
    const check = String(98n - (BigInt(numeric) % 97n)).padStart(2, '0');
    const compact = `${country}${check}${national}`;
    if (isValidIBAN(compact)) {
      return dice.chance(0.35) ? compact : compact.replaceAll(/(.{4})(?=.)/g, '$1 ');
    }
  }
}

export function socialSecurityNumber(dice: Dice): string {
  const area = dice.pick([dice.int(1, 665), dice.int(667, 899)]);
  const parts = [
    String(area).padStart(3, '0'),
    String(dice.int(1, 99)).padStart(2, '0'),
    String(dice.int(1, 9999)).padStart(4, '0'),
  ];
  return parts.join(dice.pick(['-', '-', ' ']));
}
