/** Latest time that a `Date` can hold, in milliseconds since the epoch: a later one cannot be shown. */
export const LAST_TIME = 8.64e15;
