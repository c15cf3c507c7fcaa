/** Workflow of Microsoft Teams that posts cards, read by the library of Adaptive Cards. */
import { createRequire } from 'node:module';
import type * as AdaptiveCards from 'adaptivecards';
import * as z from 'zod';
import { FakeReceiver, type ReceivedRequest, type ReceiverReply } from './fake-receiver.ts';

// Its modules cannot be loaded by Node, its bundle can.
const cards = createRequire(import.meta.url)('adaptivecards/dist/adaptivecards.js') as typeof AdaptiveCards;

const PATH = '/workflows/canaryoftheworkflow/triggers/manual/paths/invoke?sig=canary-of-the-signature';
const MAX_BYTES = 28_000;
const ENVELOPE = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: z.record(z.string(), z.unknown()),
    }),
  ]),
});

export class FakeTeams extends FakeReceiver {
  readonly cards: AdaptiveCards.AdaptiveCard[] = [];

  override get url(): string {
    return super.url + PATH;
  }

  protected handle({ path, body }: ReceivedRequest): ReceiverReply {
    if (path !== PATH) {
      return { status: 401, body: 'canary-of-the-signature' };
    }
    if (Buffer.byteLength(body) > MAX_BYTES) {
      return { status: 413 };
    }
    const envelope = ENVELOPE.safeParse(JSON.parse(body));
    const card = envelope.success ? readCard(envelope.data.attachments[0].content) : null;
    if (card === null) {
      return { status: 400 };
    }
    this.cards.push(card);
    return { status: 202 };
  }
}

/** Returns a card of the version that Teams shows; null if the library finds fault with it. */
function readCard(content: Record<string, unknown>): AdaptiveCards.AdaptiveCard | null {
  const card = new cards.AdaptiveCard();
  const context = new cards.SerializationContext(cards.Versions.v1_4);
  card.parse(content, context);
  return context.eventCount === 0 && card.validateProperties().validationEvents.length === 0 ? card : null;
}

/** Returns each paragraph of a card as the library shows it. Throws for elements that interpret their text. */
export function shownParagraphs(card: AdaptiveCards.AdaptiveCard): readonly string[] {
  return Array.from({ length: card.getItemCount() }, (_, index) => {
    const block = card.getItemAt(index);
    if (!(block instanceof cards.RichTextBlock)) {
      throw new Error(`the card has a ${block.getJsonTypeName()}`);
    }
    return Array.from({ length: block.getInlineCount() }, (__, at) => shownRun(block.getInlineAt(at))).join('');
  });
}

/** Has the library render one run, in a document that keeps only its text. */
function shownRun(run: AdaptiveCards.CardElement): string {
  const texts: string[] = [];
  const ignore = () => undefined;
  const createElement = () => ({
    classList: { add: ignore, remove: ignore },
    style: {},
    appendChild: ignore,
    setAttribute: ignore,
    removeAttribute: ignore,
    set innerText(text: string) {
      texts.push(text);
    },
  });
  const host = globalThis as Record<string, unknown>;
  host.document = { createElement };
  host.HTMLButtonElement = class {};
  try {
    (run as unknown as { internalRender(): unknown }).internalRender();
    return texts.join('');
  } finally {
    delete host.document;
    delete host.HTMLButtonElement;
  }
}

/** Returns the URLs that a card opens. */
export function cardLinks(card: AdaptiveCards.AdaptiveCard): readonly string[] {
  return [...JSON.stringify(card.toJSON()).matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url ?? '');
}
