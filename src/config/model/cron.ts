import { CronExpressionParser } from 'cron-parser';

/**
 * Returns when a cron expression fires next (strictly after an instant) or last fired (strictly before it), in
 * milliseconds since the epoch; null if never. `timezone` is an IANA name; default: the time zone of the machine.
 */
export function cronFiring(cron: string, step: 'next' | 'prev', instant: number, timezone?: string): number | null {
  try {
    const currentDate = new Date(instant);
    return CronExpressionParser.parse(cron, timezone === undefined ? { currentDate } : { currentDate, tz: timezone })
      [step]()
      .getTime();
  } catch {
    // The expression never fires, such as one for February 30.
    return null;
  }
}
