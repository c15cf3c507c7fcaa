/** The version that the API document is nearest to. */
export const FIRST = ['0.146'] as const;
/** The latest version. */
export const LATER = ['0.202'] as const;
export const BOTH = [...FIRST, ...LATER] as const;

export const API = 'platform API';
export const SUPPLEMENT = 'platform API supplement';
/** Where it says in what the API document and the vendor's differ. */
export const DIFFER = `${SUPPLEMENT}, section 1`;
/** Where it says what later versions changed. */
export const GONE = `${SUPPLEMENT}, section 10`;
