/** Follows redirects and keeps cookies by host, as a browser does. */
export class CookieBrowser {
  /** Addresses that were opened, in their order. */
  readonly visited: string[] = [];
  readonly #jars = new Map<string, Map<string, string>>();

  /** Opens an address and follows redirects, also those of a page that opens another one. */
  async open(
    url: string,
    init: RequestInit = {},
  ): Promise<{ readonly url: string; readonly response: Response; readonly text: string }> {
    this.visited.push(url);
    const { host } = new URL(url);
    const cookies = [...(this.#jars.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookies === '' ? {} : { cookie: cookies }), ...init.headers },
    });
    this.#keep(host, response.headers.getSetCookie());
    const text = await response.text();
    const location =
      response.headers.get('location') ?? /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text)?.[1];
    return location === undefined
      ? { url, response, text }
      : this.open(new URL(location.replaceAll('&amp;', '&'), url).href);
  }

  /** Sends the only form of a page. */
  submit(page: { readonly url: string; readonly text: string }, fields: Readonly<Record<string, string>>) {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    return this.open(new URL(action, page.url).href, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...fields }),
    });
  }

  #keep(host: string, set: readonly string[]): void {
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    for (const cookie of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/expires=Thu, 01 Jan 1970|max-age=0/i.test(cookie)) {
        jar.delete(name);
      } else {
        jar.set(name, value);
      }
    }
    this.#jars.set(host, jar);
  }
}
