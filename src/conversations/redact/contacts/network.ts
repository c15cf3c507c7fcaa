/** Finds addresses of machines that can lead to a person: public IP addresses, and hardware addresses of network devices. */

import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Finder, PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { cellsUnder } from '../model/table-columns.ts';

/** Networks whose addresses identify nobody: they are the same in many places, or examples. */
const NOBODYS = (
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 ' +
  // Public resolvers of names.
  '1.0.0.1/32 1.1.1.1/32 8.8.4.4/32 8.8.8.8/32 9.9.9.9/32 2001:4860:4860::/64 2606:4700:4700::/64 ' +
  '::/127 fc00::/7 fe80::/10 ff00::/8 2001:db8::/32 3fff::/20'
)
  .split(' ')
  .reduce((list, network) => {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
    return list;
  }, new BlockList());

const FOUR =
  /(?<![\w.]|[\w.-]\+|(?:[A-Za-z_.-]|^)-)\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d|\.(?:tar|zip|tgz|gz|jar|whl|exe|dmg|deb|rpm|x)\b|-[A-Za-z]|\.\*)/g;
const SIX =
  /(?<![\w:.]|\[-)(?!(?<=[>)])::)(?:ip6:)?((?:[0-9A-Fa-f]{1,4}:|:)[0-9A-Fa-f:]{1,40}(?:(?:\d{1,3}\.){3}\d{1,3})?)(?![\w:]|\.\d)/g;
/** Quick tests; most texts do not match. */
const THREE_DOTS = /\.\d{1,3}\.\d{1,3}\./;
const TWO_COLONS = /:[\da-f]{0,4}:/i;
const TWO_DOTS = /\.[\da-f]{4}\./i;
const THREE_SIGNS = /[:-][\da-f]{2}[:-][\da-f]{2}[:-]/i;
/** Number of characters before an address that are read as its context. */
const CONTEXT = 40;

/** Finds public IP addresses that `node:net` accepts. */
export const findIps: Finder = ({ text }) => {
  const four = THREE_DOTS.test(text) ? matchesIn(text, FOUR) : [];
  const versions = new Set(
    four.length === 0 ? [] : cellsUnder(text, (heading) => VERSION_HEADING.test(heading)).map(({ cell }) => cell.start),
  );
  return [
    ...four
      .filter(
        ({ index, 0: value }) =>
          !versions.has(index) &&
          isIPv4(value) &&
          !NOBODYS.check(value) &&
          !isVersion(text.slice(Math.max(0, index - CONTEXT), index), value, text.slice(index + value.length)),
      )
      .map(({ index, 0: value }) => ip(index, value, value)),
    ...(TWO_COLONS.test(text) ? matchesIn(text, SIX) : []).flatMap(({ index, 0: whole, 1: address = '' }) => {
      // A sentence may end with a colon, and `a::b` may be code.
      const value = address.replace(/(?<!:):$/, '');
      const isPublic = isIPv6(value) && /\d/.test(value) && isSomebodys(value);
      return isPublic ? [ip(index + whole.length - address.length, value, canonical(value))] : [];
    }),
  ];
};

function ip(start: number, value: string, key: string): PrivateValue {
  return { type: 'ip', label: 'IP', rule: 'public IP address', start, end: start + value.length, key };
}

function canonical(value: string): string {
  return new URL(`http://[${value}]/`).hostname.slice(1, -1);
}

/** Addresses of a link can have the hardware address of a device in them. */
function isSomebodys(value: string): boolean {
  return !NOBODYS.check(value, 'ipv6') || /ff:fe[\da-f]{1,2}:[\da-f]{1,4}$/.test(canonical(value));
}

const VERSION_HEADING =
  /(?:^|[ _])(?:versions?|releases?|version(?:en|e|i|es|ão)|versión|wersja|verze|версия|версія|sürüm|バージョン|版本|버전)$/iu;
/** Words before a version or a section number with four parts. */
const VERSION =
  /(?:(?<![a-z])(?:v|ver|versions?|version:|releases?|builds?|firmware|fw|patch|rev(?:ision)?|sdk|api|driver|app|kernel|chapter|sections?|clause|article|table|figure|fig|§|upgrad(?:ed?|ing)(?: (?:to|from))?|updat(?:ed?|ing) (?:to|from)|downgrad(?:ed?|ing)(?: (?:to|from))?|since|oid|ObjectIdentifier\()\.?["']?\s{0,2}[:=#]?\s{0,2}["']?|[=~^<>!]=\s?|[~^]\s?)$/i;
/** Products whose versions have four parts. */
const PRODUCTS =
  /(?<![\p{L}\p{N}])(?:firefox|chrom(?:e|ium)|chromedriver|safari|opera|brave|vivaldi|browser|webview2?|windows|win(?:10|11)?|android|ios|ipados|macos|java|jdk|jre|openjdk|\.net|dotnet|asp\.net|powershell|internet explorer|visual studio|vscode|docker desktop|sql server|openssl|teams|zoom|slack|outlook|office|word|excel|acrobat|reader|flash|photoshop|unity|unreal|directx|cuda|cudnn|bios|uefi|plug-?in|extension|add-?on|package|installer|hotfix|service pack|wordpress|skype|anydesk|teamviewer|boost|log4j|electron|wireshark|putty|filezilla|vlc)(?:\/|[ ,:(-]{1,2}(?:x64|x86|64-bit|32-bit|esr|beta|stable|dev)?[ ,:(-]{0,2}v?| ?\| ?)$|(?<![\p{L}\p{N}])edge ?[|/] ?$/iu;
/** An attribute or a constant in code, `AssemblyVersion("9.9.2.3")`, and a product in a header, `nginx/1.2.3.4`. */
const NAMED = /[a-z_]Version\)?["'(:= ]{1,4}$|(?<![\w.])[A-Za-z][A-Za-z_-]{1,30}\/$(?<!:\/\/)/;
/** The heading of a release in a changelog: `## [2.13.9.1] - 2025-01-28`. */
const RELEASE = /(?:^|\n)#{1,4} \[?$/;
const RELEASED = /^\]?(?:\([^()\s]{1,200}\))? {1,2}(?:[-–—] |\()(?:19|20)\d\d-\d\d/;
/** Numbers that are all this small are those of a version, unless words or signs of an address are around them. */
const SMALL = /^[0-2]?\d(?:\.[0-2]?\d){3}$/;
const ADDRESS_BEFORE =
  /(?:\bip(?:v4)?s?\b|address|addr\b|host|server|client|gateway|dns|peer|remote|forwarded|ping)[^.\n]*$|@$|:\/\/$/i;
const ADDRESS_AFTER = /^(?::\d{2,5}|\/\d{1,2})(?!\d)/;

function isVersion(before: string, value: string, after: string): boolean {
  const first = before.replace(/\d{1,5}(?:\.\d{1,5}){1,3} ?(?:to|and|or|->|→) ?$/, '');
  return (
    VERSION.test(before) ||
    VERSION.test(first) ||
    PRODUCTS.test(first) ||
    NAMED.test(before) ||
    (RELEASE.test(before) && RELEASED.test(after.slice(0, 220))) ||
    (SMALL.test(value) && !ADDRESS_BEFORE.test(before) && !ADDRESS_AFTER.test(after.slice(0, 8)))
  );
}

const PAIRS = /(?<![\w:.-])[0-9A-F]{2}([:-])(?:[0-9A-F]{2}\1){4}[0-9A-F]{2}(?![\w:-]|\.\d)/gi;
/** Address as network devices print it: `0011.2233.4455`. */
const QUADS = /(?<![\w:.-])[0-9A-F]{4}\.[0-9A-F]{4}\.[0-9A-F]{4}(?![\w:-]|\.\w)/gi;
/** Addresses in examples, and the range for documentation (RFC 7042). */
const EXAMPLES =
  /^(?:(.)\1+|00005e0053..|aabbccddeeff|112233445566|001122334455|0123456789ab|123456789abc|010203040506|deadbeefcafe)$/;

/** Finds hardware addresses of network interfaces (MAC, EUI-48). */
export const findMacs: Finder = ({ text }) => [
  ...(THREE_SIGNS.test(text) ? matchesIn(text, PAIRS) : []).flatMap(mac),
  ...(TWO_DOTS.test(text) ? matchesIn(text, QUADS) : []).filter(([value]) => /[a-f]/i.test(value)).flatMap(mac),
];

function mac({ index, 0: value }: RegExpExecArray): readonly PrivateValue[] {
  const key = value.replaceAll(/[:.-]/g, '').toLowerCase();
  // The lowest bit of the first byte marks addresses of groups, such as broadcast.
  const isGroup = Number.parseInt(key.slice(0, 2), 16) % 2 === 1;
  return isGroup || EXAMPLES.test(key)
    ? []
    : [{ type: 'mac', label: 'MAC', rule: 'hardware address', start: index, end: index + value.length, key }];
}
