import { createHash, randomBytes } from 'node:crypto';

/** A page that a browser without scripts shows. */
export interface Shown {
  readonly status: number;
  /** Final address. Has another origin when the server redirected to another program. */
  readonly url: URL;
  readonly text: string;
  readonly title: string;
  readonly headers: Headers;
}

/** A browser without scripts: it keeps cookies, follows redirects within the server, and submits forms of the page. */
export interface Surfer {
  readonly cookies: Map<string, string>;
  go(address: string): Promise<Shown>;
  /** Fills in and submits the form of the page for `step`, or the first form if the fields contain no `step`. */
  send(fields: Readonly<Record<string, string>>): Promise<Shown>;
  /** Posts made-up fields to any address. */
  forge(
    address: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Shown>;
}

/** Opens a browser without scripts at a server. */
export function openSurfer(server: string): Surfer {
  const cookies = new Map<string, string>();
  let page: Shown | undefined;

  const load = async (url: URL, init: RequestInit = {}): Promise<Shown> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      ...init,
      headers: {
        accept: 'text/html',
        ...(init.headers as Record<string, string>),
        ...(cookie === '' ? {} : { cookie }),
      },
      redirect: 'manual',
    });
    for (const set of answer.headers.getSetCookie()) keep(cookies, set);
    const text = await answer.text();
    const location = answer.headers.get('location');
    const next = location === null ? undefined : new URL(location, url);
    if (next !== undefined && next.origin === new URL(server).origin) return load(next);
    const title = /<title>([^<]*)<\/title>/.exec(text)?.[1] ?? '';
    page = { status: answer.status, url: next ?? url, text, title, headers: answer.headers };
    return page;
  };
  const post = (url: URL, fields: Readonly<Record<string, string>>, headers = {}) =>
    load(url, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return {
    cookies,
    go: (address) => load(new URL(address, server)),
    send(fields) {
      if (page === undefined) throw new Error('there is no page with a form');
      const { action, hidden } = formOf(page.text, fields['step']);
      return post(new URL(action, page.url), { ...hidden, ...fields });
    },
    forge: (address, fields, headers) => post(new URL(address, server), fields, headers),
  };
}

function keep(cookies: Map<string, string>, set: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
  if (value === '' || /expires=Thu, 01 Jan 1970/i.test(set)) cookies.delete(name);
  else cookies.set(name, value);
}

function formOf(text: string, step: string | undefined) {
  const forms = [...text.matchAll(/<form [^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)];
  const found = forms.find(([, , body = '']) => step === undefined || body.includes(`name="step" value="${step}"`));
  if (found === undefined) throw new Error(`no form for ${step} on: ${text.slice(-1500)}`);
  const [, action = '', body = ''] = found;
  const inputs = [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/?>/g)];
  return { action, hidden: Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value])) };
}

/** Returns a new PKCE verifier and its challenge. */
export function pkce() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}
