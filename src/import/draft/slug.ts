import { createHash } from 'node:crypto';

/** Longest key derived from a title, in characters: it is part of every address. */
const LONGEST = 50;

/** Letters that do not come apart into a Latin letter and marks; the first of each row replaces those after it. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  [
    'ss ß,ẞ', 'ae æ', 'oe œ', 'o ø', 'd đ ð', 'th þ θ', 'l ł', 'i ı', 'h ħ', 'n ŋ', 't ŧ',
    // Cyrillic, as it is mostly written in Latin letters.
    'a а', 'b б', 'v в', 'g г ґ', 'd д', 'e е э', 'ye є', 'zh ж', 'z з', 'i и і', 'k к', 'l л', 'm м', 'n н', 'o о',
    'p п', 'r р', 's с', 't т', 'u у', 'f ф', 'kh х', 'ts ц', 'ch ч', 'sh ш', 'shch щ', 'y ы', 'yu ю', 'ya я',
    // Greek.
    'a α', 'v β', 'g γ', 'd δ', 'e ε', 'z ζ', 'i η', 'i ι', 'k κ', 'l λ', 'm μ', 'n ν', 'x ξ', 'o ο', 'p π', 'r ρ',
    's σ ς', 't τ', 'y υ', 'f φ', 'ch χ', 'ps ψ', 'o ω',
  ].flatMap((row) => {
    const [latin = '', ...letters] = row.split(/[ ,]/);
    return letters.map((letter) => [letter, latin] as const);
  }), // biome-ignore format: a table
);
/** Letters that are not heard. */
const SILENT = new Set(['ь', 'ъ']);

/**
 * What a key can be made of a title: `Docs & guides` becomes `docs-guides`. Null where most of its letters have no
 * Latin ones, or it has no letters at all.
 */
export function slugOf(title: string): string | null {
  let slug = '';
  let kept = 0;
  let lost = 0;
  for (const character of title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/['’\p{M}]/gu, '')) {
    if (/[a-z0-9]/.test(character)) {
      slug += character;
      kept += 1;
    } else if (LETTERS.has(character) || SILENT.has(character)) {
      slug += LETTERS.get(character) ?? '';
      kept += 1;
    } else {
      slug += '-';
      lost += /\p{L}/u.test(character) ? 1 : 0;
    }
  }
  const whole = slug.replace(/-+/g, '-').replace(/^-|-$/g, '');
  return whole === '' || lost > kept ? null : shortened(whole);
}

function shortened(slug: string): string {
  if (slug.length <= LONGEST) {
    return slug;
  }
  const cut = slug.slice(0, LONGEST + 1);
  const end = cut.lastIndexOf('-');
  return end > LONGEST / 2 ? cut.slice(0, end) : cut.slice(0, LONGEST);
}

/** A key for what has no name that a key can be made of: the same for the same name, whatever its id is. */
export function keyOfNothing(kind: string, name: string): string {
  const digest = createHash('sha256').update(name.normalize('NFC')).digest('hex');
  return `${kind}-${digest.slice(0, 6)}`;
}
