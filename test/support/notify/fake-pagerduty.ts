/** PagerDuty's Events API v2, with incidents by deduplication key. */
import * as z from 'zod';
import { FakeReceiver, type ReceivedRequest, type ReceiverReply } from './fake-receiver.ts';

const links = z.array(z.strictObject({ href: z.url({ protocol: /^https?$/ }), text: z.string() }));
const payload = {
  summary: z.string().min(1).max(1024),
  source: z.string().min(1),
  timestamp: z.iso.datetime(),
  custom_details: z.record(z.string(), z.unknown()),
};
/** From the reference of the Events API v2. */
const ALERT = z.strictObject({
  routing_key: z.string(),
  event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
  dedup_key: z.string().min(1).max(255),
  client: z.string(),
  client_url: z.url().optional(),
  payload: z.strictObject({
    ...payload,
    severity: z.enum(['critical', 'error', 'warning', 'info']),
    class: z.string(),
  }),
  links,
});
const CHANGE = z.strictObject({ routing_key: z.string(), payload: z.strictObject(payload), links });
const MAX_EVENT = 512 * 1024;

export type PagerDutyAlert = z.output<typeof ALERT>;

export class FakePagerDuty extends FakeReceiver {
  readonly routingKey = 'canary0of0the0routing0key0000000';
  /** Last alert of each incident that was ever opened. */
  readonly incidents = new Map<string, { isOpen: boolean; alert: PagerDutyAlert; pages: number }>();
  readonly changes: z.output<typeof CHANGE>[] = [];

  protected handle({ path, body }: ReceivedRequest): ReceiverReply {
    const given: unknown = JSON.parse(body);
    const alert = path === '/v2/enqueue' ? ALERT.safeParse(given).data : undefined;
    const change = path === '/v2/change/enqueue' ? CHANGE.safeParse(given).data : undefined;
    if ((alert ?? change)?.routing_key !== this.routingKey || body.length > MAX_EVENT) {
      return { status: 400, body: `{"status":"invalid event","errors":["${this.routingKey}"]}` };
    }
    if (alert !== undefined) {
      this.#alert(alert);
    } else if (change !== undefined) {
      this.changes.push(change);
    }
    return { status: 202, body: '{"status":"success"}' };
  }

  #alert(alert: PagerDutyAlert): void {
    const known = this.incidents.get(alert.dedup_key);
    if (alert.event_action === 'resolve') {
      // A resolve of nothing is ignored.
      if (known !== undefined) {
        this.incidents.set(alert.dedup_key, { ...known, isOpen: false, alert });
      }
      return;
    }
    const pages = (known?.pages ?? 0) + (known?.isOpen === true ? 0 : 1);
    this.incidents.set(alert.dedup_key, { isOpen: true, alert, pages });
  }
}
