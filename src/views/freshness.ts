/** Age of what a view says. */
export { type Freshness, freshness } from './model/freshness.ts';
