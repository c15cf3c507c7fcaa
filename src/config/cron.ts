import { CronExpressionParser } from 'cron-parser';

/**
 * When a cron expression fires next (strictly after an instant) or fired last (strictly before it), in milliseconds
 * since the epoch; null: never. `timezone` is an IANA name, the machine's own where absent.
 */
export function cronFiring(cron: string, step: 'next' | 'prev', instant: number, timezone?: string): number | null {
  try {
    const currentDate = new Date(instant);
    return CronExpressionParser.parse(cron, timezone === undefined ? { currentDate } : { currentDate, tz: timezone })
      [step]()
      .getTime();
  } catch {
    // An expression that never fires, such as one for February 30, has no such instant.
    return null;
  }
}
