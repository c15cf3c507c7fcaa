/** Registry of metrics that exports only what this process has now. */
import { Counter, Gauge, type Metric, Registry } from 'prom-client';

/** Work that this process has now. A label value that it does not have is not exported any more. */
export interface MetricOwnership {
  /** Returns true if this process works for an organization. */
  readonly organization: (id: string) => boolean;
  /** Returns true if an organization is configured. Any replica of a fleet receives the webhooks of all of them. */
  readonly receiver: (organization: string) => boolean;
  /** Returns true if a queue is open. */
  readonly queue: (name: string) => boolean;
}

/** Metrics that the replica which receives a webhook writes, and not the owner of the organization. */
const RECEIVED = /^octavo_(push_)?webhook_/;
/** Metrics of the limit of a token, which replicas that divide its organizations share: its first organization's owner exports it. */
const SHARED_LIMIT = /^octavo_budget_(limit|remaining)$/;
const OWNED_LABELS: readonly string[] = ['organization', 'queue'];

type Labels = Readonly<Partial<Record<string, string | number>>>;

/**
 * Registry that removes the values of organizations and queues which this process does not have any more. They are removed
 * when metrics are read, so that a late write of work that has ended is not exported either.
 */
export class CurrentRegistry extends Registry {
  #ownership: MetricOwnership | null = null;

  /** Exports only what is owned, from now on. */
  limitTo(ownership: MetricOwnership): void {
    this.#ownership = ownership;
  }

  override async metrics(): Promise<string> {
    const ownership = this.#ownership;
    if (ownership !== null) {
      await Promise.all(this.getMetricsAsArray().map((metric) => removeOthers(metric as unknown as Metric, ownership)));
    }
    return super.metrics();
  }
}

async function removeOthers(metric: Metric, ownership: MetricOwnership): Promise<void> {
  const { labelNames } = metric as unknown as { readonly labelNames: readonly string[] };
  // Histograms are about all organizations.
  if (
    !(metric instanceof Gauge || metric instanceof Counter) ||
    !labelNames.some((each) => OWNED_LABELS.includes(each))
  ) {
    return;
  }
  const { name, values } = await metric.get();
  for (const { labels } of values) {
    if (!isOwned(name, labels, ownership)) {
      metric.remove(labels as Record<string, string>);
    }
  }
}

function isOwned(metric: string, { organization, queue }: Labels, ownership: MetricOwnership): boolean {
  if (queue !== undefined) {
    const name = String(queue);
    return ownership.queue(name) && (!SHARED_LIMIT.test(metric) || ownership.organization(name));
  }
  const isCurrent = RECEIVED.test(metric) ? ownership.receiver : ownership.organization;
  return organization === undefined || isCurrent(String(organization));
}
