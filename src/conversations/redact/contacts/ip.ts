// Finder for IP addresses.

import { isIPv4, isIPv6 } from 'node:net';
import type { Finder, PrivateValue } from '../model/found.ts';
import { cellsUnder } from '../model/table-columns.ts';

const FOUR =
  /(?<![\w.]|[\w.-]\+|(?:[A-Za-z_.-]|^)-)\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d|\.(?:tar|zip|tgz|gz|jar|whl|exe|dmg|deb|rpm|x)\b|-[A-Za-z]|\.\*)/g;
const SIX = /(?<![\w:.])(?:ip6:)?((?:[0-9A-Fa-f]{1,4}:|:)[0-9A-Fa-f:]{1,40}(?:(?:\d{1,3}\.){3}\d{1,3})?)(?![\w:])/g;
/** Words before a version or a section number with four parts. */
const VERSION =
  /(?:(?<![a-z])(?:v|ver|versions?|version:|releases?|builds?|firmware|fw|patch|rev(?:ision)?|sdk|api|driver|app|kernel|chapter|sections?|clause|article|table|figure|fig|§|upgrad(?:ed?|ing)(?: (?:to|from))?|updat(?:ed?|ing) (?:to|from)|downgrad(?:ed?|ing)(?: (?:to|from))?|since|oid)\.?["']?\s{0,2}[:=#]?\s{0,2}["']?|[=~^<>!]=\s?|[~^]\s?)$/i;
/** Products whose versions have four parts. */
const PRODUCTS =
  /(?<![\p{L}\p{N}])(?:firefox|chrom(?:e|ium)|chromedriver|safari|opera|brave|vivaldi|browser|webview2?|windows|win(?:10|11)?|android|ios|ipados|macos|java|jdk|jre|openjdk|\.net|dotnet|asp\.net|powershell|internet explorer|visual studio|vscode|docker desktop|sql server|openssl|teams|zoom|slack|outlook|office|word|excel|acrobat|reader|flash|photoshop|unity|unreal|directx|cuda|cudnn|bios|uefi|plug-?in|extension|add-?on|package|installer|hotfix|service pack|wordpress|skype|anydesk|teamviewer|boost|log4j|electron|wireshark|putty|filezilla|vlc)(?:\/|[ ,:(-]{1,2}(?:x64|x86|64-bit|32-bit|esr|beta|stable|dev)?[ ,:(-]{0,2}v?| ?\| ?)$|(?<![\p{L}\p{N}])edge ?[|/] ?$/iu;
/** Attribute or constant in source code: `AssemblyVersion("9.9.2.3")`. */
const VERSION_OF = /[a-z_]Version\)?["'(:= ]{1,4}$/;
/** The heading of a release in a changelog: `## [2.13.9.1] - 2025-01-28`. */
const RELEASE = /(?:^|\n)#{1,4} \[?$/;
const RELEASED = /^\]?(?:\([^()\s]{1,200}\))? {1,2}(?:[-–—] |\()(?:19|20)\d\d-\d\d/;
const PRODUCT = /(?<![\w.])[A-Za-z][A-Za-z_-]{1,30}\/$/;
/** Number of characters before an address that are read as its context. */
const CONTEXT = 40;

/** Finds IP addresses that `node:net` accepts, except those with the same meaning everywhere, such as loopback. */
export const findIps: Finder = (text) => {
  const four = [...text.matchAll(FOUR)];
  const versions = new Set(four.length === 0 ? [] : versionColumns(text));
  return [
    ...four
      .filter(
        (match) =>
          !versions.has(match.index) &&
          isIPv4(match[0]) &&
          !isEverywhere(match[0]) &&
          !isVersion(text, match.index, match[0].length),
      )
      .map((match) => ip(match.index, match[0])),
    ...[...text.matchAll(SIX)].map((match) => six(match)).filter((found) => found !== null),
  ];
};

/** Returns the start positions of the cells in columns with the heading "Version". */
function versionColumns(text: string): readonly number[] {
  return cellsUnder(text, (heading) => VERSION_HEADING.test(heading)).map(({ cell }) => cell.start);
}

const VERSION_HEADING =
  /(?:^|[ _])(?:versions?|releases?|version(?:en|e|i|es|ão)|versión|wersja|verze|версия|версія|sürüm|バージョン|版本|버전)$/iu;

function ip(start: number, value: string): PrivateValue {
  return { type: 'ip', label: 'IP', start, end: start + value.length, key: value.toLowerCase() };
}

/** Checks an IPv6 address. A sentence may end with a colon, and `a::b` may be code. */
function six({ 0: whole, 1: address = '', index }: RegExpExecArray): PrivateValue | null {
  const value = address.replace(/(?<!:):$/, '');
  const isAddress = isIPv6(value) && /\d/.test(value) && !/^::1?$/.test(value);
  return isAddress ? { ...ip(index + whole.length - address.length, value), key: canonical(value) } : null;
}

function canonical(value: string): string {
  return new URL(`http://[${value}]/`).hostname.slice(1, -1);
}

/** Reports whether an address is a loopback address, an unspecified address or a mask. */
function isEverywhere(value: string): boolean {
  return /^(?:127\.|0\.0\.0\.0$|255\.)/.test(value);
}

function isVersion(text: string, start: number, length: number): boolean {
  const before = text.slice(Math.max(0, start - CONTEXT), start);
  const first = before.replace(/\d{1,5}(?:\.\d{1,5}){1,3} ?(?:to|and|or|->|→) ?$/, '');
  return (
    VERSION.test(before) ||
    (RELEASE.test(before) && RELEASED.test(text.slice(start + length, start + length + 220))) ||
    VERSION.test(first) ||
    PRODUCTS.test(first) ||
    VERSION_OF.test(before) ||
    (PRODUCT.test(before) && !/:\/\/$/.test(before))
  );
}
