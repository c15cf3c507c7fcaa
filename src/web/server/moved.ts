/** Addresses that pages had before: bookmarks, and links in messages that were sent, lead to the new ones. */
import type { FastifyInstance } from 'fastify';

/** Routes by the part of the address that has another name now. */
const MOVED: Readonly<Record<string, readonly [before: string, now: string]>> = {
  '/budget': ['/budget', '/limits'],
  '/conditions': ['/conditions', '/alerts'],
  '/o/:organization/passes': ['/passes', '/history'],
  '/o/:organization/passes/:number': ['/passes/', '/history/'],
  '/o/:organization/clusters': ['/clusters', '/questions'],
  '/o/:organization/dead-letters': ['/dead-letters', '/refused'],
  '/o/:organization/dead-letters/:key': ['/dead-letters/', '/refused/'],
};

/** Redirects the old addresses. An answer says nothing about what exists, so nobody has to be known. */
export function addMoved(app: FastifyInstance): void {
  for (const [route, [before, now]] of Object.entries(MOVED)) {
    app.get(route, ({ url }, reply) => {
      // An id may have the same name as the part.
      const from = route.startsWith('/o/') ? url.indexOf('/', '/o/'.length) : 0;
      return reply.redirect(`${url.slice(0, from)}${url.slice(from).replace(before, now)}`, 308);
    });
  }
}
