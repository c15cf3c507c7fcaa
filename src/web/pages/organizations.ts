/** Page of all organizations. */
import { html } from 'hono/html';
import { link, pathTo } from '../html/link.ts';
import { definePage } from '../page.ts';

export const organizationsPage = definePage<{ readonly organizations: readonly string[] }>({
  path: '/',
  load: async (backend, { viewer }) => ({
    organizations: backend
      .organizations()
      .map(({ id }) => id)
      .filter((id) => viewer.role(id) !== null),
  }),
  title: () => 'Organizations',
  render: ({ organizations }) => html`<h1>Organizations</h1>
<ul>${organizations.map((id) => html`<li>${link(pathTo(['o', id]), id)}</li>`)}</ul>`,
  topics: ({ organizations }) => organizations,
});
