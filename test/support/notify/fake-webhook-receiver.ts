/** Receiver that verifies Standard Webhooks, and drops those that it has already. */
import { Webhook } from 'standardwebhooks';
import { FakeReceiver, type ReceivedRequest, type ReceiverReply } from './fake-receiver.ts';

const PATH = '/in?key=canary-of-the-query';

export class FakeWebhookReceiver extends FakeReceiver {
  readonly secret = `whsec_${Buffer.from('canary-of-the-signing-secret').toString('base64')}`;
  /** Payloads by id. */
  readonly messages = new Map<string, unknown>();
  repeated = 0;

  override get url(): string {
    return super.url + PATH;
  }

  protected handle({ path, headers, body }: ReceivedRequest): ReceiverReply {
    if (path !== PATH) {
      return { status: 404 };
    }
    let payload: unknown;
    try {
      payload = new Webhook(this.secret).verify(body, headers as Record<string, string>);
    } catch {
      return { status: 401 };
    }
    const id = String(headers['webhook-id']);
    this.repeated += this.messages.has(id) ? 1 : 0;
    this.messages.set(id, payload);
    return { status: 200, body: 'thank you' };
  }
}
