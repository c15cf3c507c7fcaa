/** Trims characters in linear time; a pattern such as `/\/+$/` takes quadratic time. */

/** Returns a text without its trailing slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') {
    end -= 1;
  }
  return text.slice(0, end);
}
