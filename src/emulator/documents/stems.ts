/** Stems of the distinctive words of a text. */

/** Words that occur in tickets about every topic. */
const STOP_WORDS = new Set(
  `a about above after again against all already also although always am an and another any anybody anyone anything are
  aren around as ask asked at away back be because been before being below best better between both but by came can
  cannot cant come could couldn couldnt day days did didn didnt do does doesn doesnt doing don done dont down each either
  else etc even ever every everyone everything few find first fine for found from further get gets getting give go goes
  going gone good got had hadn has hasn have haven having he hello help her here hers hey hi him his hope how however i
  if in instead into is isn isnt it its itself just keep keeps kind know last least less let like little ll long look
  looking lot made make makes many may maybe me mine more most much must my myself near need needed needs never new next
  no none nor not nothing now of off often ok okay old on once one only onto or other others our ours out over own per
  please possible put question quite rather re really regards right said same saw say says see seem seems seen several
  shall she should shouldn show shows since so some somebody someone something sometimes soon still such sure take takes
  team tell than thank thanks that the their theirs them then there therefore these they thing things think this those
  though through time times to today together told too tried try trying two under until up upon us use used using ve very
  via want wanted wants was wasn way we week weeks well went were weren what whatever when where whether which while who
  whole whom whose why will wish with within without won wonder would wouldn yes yesterday yet you your yours yourself
  able account advance advise anymore appreciate assist best broken bug check click clicked correct customer customers
  dear error errors every expect expected fail failed failing fails failure fix happen happened happening happens
  important issue issues message minutes month months morning page people problem problems reply says support suddenly
  ticket unable urgent user users version work worked working works wrong year years`.split(/\s+/),
);

/** Spellings that count as one word. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:log|sign)(?:ged|ging|ed|ing|s)?[\s-]?(?:in|on|into)\b/g, ' login '],
  [/\b(?:log|sign)(?:ged|ging|ed|ing|s)?[\s-]?out\b/g, ' logout '],
  [/\be-mail/g, 'email'],
  [/\bset(?:ting)?[\s-]up\b/g, ' setup '],
];

/** Returns the stems of distinctive words, without addresses, numbers and placeholders of redaction. */
export function stems(text: string): string[] {
  let spelled = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\bhttps?:\/\/\S+|(?<!\S)\S+@\S+|\[[a-z][a-z _-]*[ _-]?\d+\]/g, ' ');
  for (const [pattern, word] of SPELLINGS) {
    spelled = spelled.replace(pattern, word);
  }
  return (spelled.match(/\p{L}[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => word.length <= 40 && !STOP_WORDS.has(word))
    .map(stem)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word));
}

/** Endings, the longest first: pattern, replacement, and the number of letters that must be left. */
const ENDINGS: readonly (readonly [RegExp, string, number])[] = [
  [/ies$|ied$/, 'y', 2],
  [/([st])ions?$/, '$1', 3],
  [/(ss|[sx]|ch|sh)es$/, '$1', 2],
  [/([^sui])s$/, '$1', 2],
];

/** Returns a light stem: without plural, -ing, -ed, -ion and the final e. */
function stem(word: string): string {
  let stemmed = word;
  for (const [ending, becomes, left] of ENDINGS) {
    const shorter = stemmed.replace(ending, becomes);
    if (shorter !== stemmed && shorter.length > left) {
      stemmed = shorter;
      break;
    }
  }
  const bare = stemmed.replace(/(?:ing|ed)$/, '');
  if (bare !== stemmed && bare.length > 2 && /[aeiouy]/.test(bare)) {
    stemmed = bare.replace(/([bdgmnprt])\1$/, '$1');
  }
  return stemmed.length > 3 ? stemmed.replace(/e$/, '') : stemmed;
}
