/** Finds Chinese, Japanese and Korean names: parts of known names, and names with an honorific or a phrase. */
import data from '../data/name-words.json' with { type: 'json' };
import { matchesIn } from '../model/matches.ts';
import { bitOf, type Reading } from '../model/reading.ts';

const {
  chineseFamily: CHINESE_FAMILY,
  chineseFamilyTwo: CHINESE_FAMILY_TWO,
  chineseHonorifics: CHINESE_HONORIFICS,
  japaneseFamily: JAPANESE_FAMILY,
  japaneseHonorifics: JAPANESE_HONORIFICS,
  koreanFamily: KOREAN_FAMILY,
  koreanFamilyTwo: KOREAN_FAMILY_TWO,
  koreanHonorifics: KOREAN_HONORIFICS,
} = data.cjk;
/** Given names of two syllables that are also words: they are names only before an honorific. */
const KOREAN_WORDS = new Set(data.cjk.koreanWords.split(' '));
/** Words that look like a family name with an honorific. */
const NO_NAMES = new Set(data.cjk.notNames.split(' '));

const HAN = '[\\p{Script=Han}々ヶ]';
const KATAKANA = '[\\u30a1-\\u30fa\\u30fc]';
const HANGUL = '[\\uac00-\\ud7a3]';
const SCRIPT = bitOf([], /[\p{Script=Thai}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u);
const FAMILY_HAN = `(?:${CHINESE_FAMILY_TWO}|[${CHINESE_FAMILY}])`;
const FAMILY_HANGUL = `(?:${KOREAN_FAMILY_TWO}|[${KOREAN_FAMILY}])`;

/** End of a Hangul name: an honorific, a particle, or the end of the word. */
const HANGUL_END = `(?=\\s?(?:${KOREAN_HONORIFICS})|(?:은|는|이|가|을|를|의|와|과|도|에게|한테|께서?|이라고|라고|입니다|이에요|예요|아|야|이는|이가|드림|올림)(?!${HANGUL})|(?!${HANGUL}))`;
const HONORIFIC_END = `(?=\\s?(?:${JAPANESE_HONORIFICS}|${CHINESE_HONORIFICS}|${KOREAN_HONORIFICS})(?![様々]))`;

/** Reports whether a text contains a letter of these scripts. */
export function hasCjk({ bits }: Reading): boolean {
  return (bits & SCRIPT) !== 0;
}

/** Returns patterns for a known name and its parts; none for names in other scripts. */
export function patternsOfName(name: string): readonly string[] {
  const parts = name
    .normalize('NFC')
    .split(/[\s・·=,、]+/)
    .filter((part) => part !== '');
  if (
    parts.length === 0 ||
    parts.length > 4 ||
    !parts.every((part) =>
      /^[\p{Script=Han}々ヶ\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]{1,12}$/u.test(part),
    )
  ) {
    return [];
  }
  const [only = ''] = parts;
  const whole = parts.map((part) => escaped(part)).join('[\\s・·=,、]{0,2}');
  const reversed = parts
    .toReversed()
    .map((part) => escaped(part))
    .join('[\\s・·=,、]{0,2}');
  const split = parts.length > 1 ? parts : splitsOf(only);
  return [...(parts.length > 1 || only.length > 1 ? [whole, reversed] : []), ...split.map((part) => partPattern(part))];
}

/** Returns the family and given names in a name without spaces, for every common split. */
function splitsOf(name: string): readonly string[] {
  const cut = (at: number) => [name.slice(0, at), name.slice(at)];
  if (name.length < 2) {
    return [];
  }
  if (new RegExp(`^${HANGUL}+$`, 'u').test(name)) {
    return cut(new RegExp(`^(?:${KOREAN_FAMILY_TWO})..`).test(name) ? 2 : 1);
  }
  if (!new RegExp(`^${HAN}+$`, 'u').test(name)) {
    const family = new RegExp(`^(?:${JAPANESE_FAMILY})`).exec(name)?.[0];
    return family === undefined || family === name ? [] : cut(family.length);
  }
  const family = new RegExp(`^(?:${JAPANESE_FAMILY}|${CHINESE_FAMILY_TWO})`).exec(name)?.[0].length;
  const places = [...new Set([family ?? 1, name.length <= 3 ? 1 : 2])].filter((place) => place < name.length);
  return places.flatMap((place) => cut(place));
}

function partPattern(part: string): string {
  const own = escaped(part);
  if (part.length === 1 || KOREAN_WORDS.has(part)) {
    return `(?:(?<=[小老阿])${own}(?!${HAN})|(?<!${HAN}|${HANGUL})${own}${HONORIFIC_END})`;
  }
  if (new RegExp(`^${HANGUL}+$`, 'u').test(part)) {
    return `(?<!${HANGUL})${own}${HANGUL_END}`;
  }
  return new RegExp(`^${KATAKANA}+$`, 'u').test(part) ? `(?<!${KATAKANA})${own}(?!${KATAKANA})` : own;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Family names that also occur inside words: no other character may precede them. */
const AMBIGUOUS = '于向许許任方高金孔';
const JAPANESE_LONG = JAPANESE_FAMILY.split('|')
  .filter((family) => family.length > 1)
  .join('|');
const ADDRESSED = new RegExp(
  [
    `((?:${JAPANESE_FAMILY})(?:[ 　]?(?:${HAN}|[\\u3041-\\u3096]){1,3}?)?)[ 　]?(?:さん|さま|様|くん|君|ちゃん|氏|殿)(?![々子式相])`,
    `((?:${JAPANESE_FAMILY}))(?:${JAPANESE_HONORIFICS})`,
    '(?<![A-Za-z])([A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20})?) ?(?:様|さま|さん|님)(?![々子式相])',
    '(?:เรียน|สวัสดี(?:ครับ|ค่ะ|คะ)?|ถึง) ?คุณ ?([\\u0e01-\\u0e4e]{2,24}(?: [\\u0e01-\\u0e4e]{2,24})?)(?=[\\s,]|$)',
    `(?:^|\\n)[ \\t>]{0,4}(${FAMILY_HAN}${HAN}{0,2})[，, ]{0,2}(?:你好|您好|早上好|下午好)`,
    `(?<!${KATAKANA})(${KATAKANA}{2,12}(?:[・ ]${KATAKANA}{2,12})?)[ 　]?(?:さん|さま|様|氏|くん|ちゃん)(?![々子式相])`,
    `((?![向于](?:老[师師]|同[学學]|教授))(?:(?<!${HAN})|(?![${AMBIGUOUS}]))${FAMILY_HAN}${HAN}{0,2}?)(?:${CHINESE_HONORIFICS})(?!产)`,
    `(?<!${HANGUL})(${FAMILY_HANGUL}${HANGUL}{1,2})[ ]?(?:${KOREAN_HONORIFICS})(?!${HANGUL}{3})`,
    `(?<!${HANGUL})([김박최강조윤장임오서신권황송류홍문배백허유남심노])[ ]?(?:씨|${KOREAN_HONORIFICS.slice('님|씨|'.length)})`,
  ].join('|'),
  'gu',
);
const CHINESE_LABELS =
  '姓名|联系人|聯絡人|联络人|收件人|收货人|收貨人|寄件人|发件人|签名|负责人|負責人|申请人|申請人|经办人|提交人|报告人|处理人|持卡人|客户姓名|对接人';
const JAPANESE_LABELS = '担当者?|ご担当者?|宛名|氏名|お名前|契約者|申込者|報告者|依頼者|送信者|受取人';
const KOREAN_LABELS =
  '담당자|신청자|작성자|요청자|보고자|수신인|발신인|고객명|예금주|성명|이름|성함|문의자|책임자|받는 사람|보내는 사람';
const ANNOUNCED = new RegExp(
  [
    `(?:我叫|我的名字(?:是|叫)|我是|本人|这里是|這裡是|名字[是叫：:]|此致\\s{0,3}敬礼[!！。]?\\s{1,4})(${FAMILY_HAN}${HAN}{1,2})(?!${HAN})`,
    `(?:${CHINESE_LABELS})[：: \\t]{0,2}(${FAMILY_HAN}${HAN}{1,2})(?!${HAN})`,
    `(?:我是|这里是|這裡是|我来自|我來自)[^，。,\\n的]{1,20}(?:的|[，,] ?我叫)(${FAMILY_HAN}${HAN}{1,2})(?!${HAN})`,
    `(?:同事|经理|經理|主管|老板|老闆|助理)[“" ]?(${FAMILY_HAN}${HAN}{1,2})(?=[”" ，。、,说說反已在也不无無的和与與]|$)`,
    `(?:名前は|氏名[：:は ]{1,2}|担当[の：:は]|私は|わたしは|お名前[：:]|宛先[：:])[ 　]?((?:${JAPANESE_FAMILY}|${KATAKANA}{2,10})(?:[ 　・]?(?:${HAN}|${KATAKANA}|[\\u3041-\\u3096]){1,5}?)?)(?=です|と|で|、|。|\\s|$)`,
    `((?:${JAPANESE_FAMILY})(?:[ 　]?(?:${HAN}|[\\u3041-\\u3096]){1,3}?)?)(?:と申します|といいます|と言います|でございます|拝(?!${HAN})|より(?=\\s|$))`,
    `(?:^|[\\s、。の])((?:${JAPANESE_LONG})(?:[ 　]?(?:${HAN}|[\\u3041-\\u3096]){1,3}?)?)です(?=[。\\s、]|$)`,
    `(?:^|[、。\\s])(?:[^、。\\s]{1,20}の)?(${HAN}{2,5}|${KATAKANA}{2,12})(?:と申します|と申しまして|でございます)`,
    `(?:${JAPANESE_LABELS})[：: \\t　]{1,2}((?:${JAPANESE_FAMILY})(?:[ 　]?(?:${HAN}|${KATAKANA}|[\\u3041-\\u3096]){1,4})?)(?=[ 　]?(?:様|さん|[\\s、。（(,]|$))`,
    `(?:${KOREAN_LABELS})[:： \\t]{1,2}(${FAMILY_HANGUL}${HANGUL}{2})(?=[\\s]?(?:님|씨)|[ \\t]*(?:[\\n,.()/|]|$))`,
    `(?:제 이름은|이름은|저는|성함[:：은 ]{1,2}|이름[:：]|성명[:：])\\s?(${FAMILY_HANGUL}${HANGUL}{2})(?=이라고|라고|입니다|이고|이에요|예요|[\\s,.]|$)`,
    `(?<!${HANGUL})(${FAMILY_HANGUL}${HANGUL}{1,2})\\s?(?:드림|올림|배상)(?!${HANGUL})`,
    `(${FAMILY_HAN}${HAN}{1,2})\\s?(?:敬上|谨上|謹上|敬启)`,
    `\\n[ \\t>]{0,4}(${FAMILY_HAN}${HAN}{1,2}|${FAMILY_HANGUL}${HANGUL}{2}|(?:${JAPANESE_FAMILY})[ 　]?(?:${HAN}|[\\u3041-\\u3096]){1,3})\\s{0,8}$`,
  ].join('|'),
  'gu',
);

export interface CjkName {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the names with an honorific or a phrase, with the position of both. */
export function namesInContext(reading: Reading): readonly CjkName[] {
  if (!hasCjk(reading)) {
    return [];
  }
  const { text } = reading;
  return [...found(text, ADDRESSED, true), ...found(text, ANNOUNCED, false)];
}

function found(text: string, pattern: RegExp, takesWhole: boolean): readonly CjkName[] {
  return matchesIn(text, pattern).flatMap((match) => {
    const name = match.slice(1).find((value) => value !== undefined) ?? '';
    const isWord = NO_NAMES.has(name) || NO_NAMES.has(match[0]) || KANA_WORD.test(name) || PLACE.test(name);
    const start = match.index + (takesWhole ? 0 : match[0].indexOf(name));
    const end = takesWhole ? match.index + match[0].length : start + name.length;
    return name === '' || isWord ? [] : [{ name: name.replaceAll(/[\s　]/g, ''), start, end }];
  });
}

const KANA_WORD = new RegExp(`(?:${[...NO_NAMES].filter((word) => /^[\u30a1-\u30fc]/.test(word)).join('|')})$`);
/** Ends of place names, which may start with a family name. */
const PLACE = /[県市区町村駅店都府]$|大学$|支店$/;
