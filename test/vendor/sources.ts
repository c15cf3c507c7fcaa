/** Version of the vendor's OpenAPI document that is nearest to the API document. */
export const FIRST = ['0.146'] as const;
/** The latest version. */
export const LATER = ['0.202'] as const;
export const BOTH = [...FIRST, ...LATER] as const;

/** Section of the platform notes on the changes of later versions. */
export const GONE = 'docs/platform-notes.md#changes-by-version';
