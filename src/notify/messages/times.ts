/** Times in the words of messages. All times are UTC, because the people who read a message are in several zones. */

/** `14:02 UTC`; on another day `Nov 22, 14:02 UTC`; in another year `Nov 22, 2025, 14:02 UTC`. */
export function clockWords(at: number, now: number): string {
  const [time, today] = [new Date(at), new Date(now)];
  const clock = `${time.toISOString().slice(11, 16)} UTC`;
  const isThisYear = time.getUTCFullYear() === today.getUTCFullYear();
  if (isThisYear && time.toISOString().slice(0, 10) === today.toISOString().slice(0, 10)) {
    return clock;
  }
  const date = time.toLocaleDateString('en', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
    timeZone: 'UTC',
  });
  return `${date}, ${clock}`;
}
