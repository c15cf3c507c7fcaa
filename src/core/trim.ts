/** Trims characters in linear time: a pattern such as `/\/+$/` is tried again from every character of a run. */

/** A text without the slashes at its end. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') {
    end -= 1;
  }
  return text.slice(0, end);
}
