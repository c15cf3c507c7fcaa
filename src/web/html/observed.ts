/** Age of an observation in pages. */

import { html } from 'hono/html';
import { spanWords } from '../../plan/render/words.ts';
import type { Freshness } from '../../views/model/freshness.ts';
import type { Html } from '../page.ts';
import { age } from './age.ts';

/** Returns when something was observed, and says so if that is too long ago. `never`: text if it never was. */
export function observed({ asOf, ageSeconds, isStale }: Freshness, now: number, never: string): Html {
  if (asOf === null || ageSeconds === null) {
    return html`<span class="faint">${never}</span>`;
  }
  return isStale
    ? html`<time class="state old" datetime="${asOf}" title="${asOf}">not for ${spanWords(ageSeconds * 1000)}</time>`
    : age(asOf, now);
}
