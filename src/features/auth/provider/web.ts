import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Request of a browser for one of our own pages. */
export interface WebRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Fields of the sent form; absent when the page is only requested. */
  readonly form?: URLSearchParams;
  /** Network address of the client. */
  readonly address: string;
}

/** Answer to a browser: a page, or the address of a redirect. */
export type WebAnswer =
  | {
      readonly status: number;
      readonly page: string;
      /** Origins other than this server to which forms of the page may lead. */
      readonly targets?: readonly string[];
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly location: string };

/** Returns the token that proves that a form comes from a page that was shown to the same browser. */
export function createCsrfToken(secret: string, shownTo: string): string {
  return createHmac('sha256', secret).update(`form ${shownTo}`).digest('base64url');
}

/** Returns whether a form was sent by our own page in the same browser. */
export function isOurForm({ req, form }: WebRequest, secret: string, shownTo: string): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined && !['same-origin', 'none'].includes(String(site))) return false;
  const [given, expected] = [Buffer.from(textIn(form, 'csrf')), Buffer.from(createCsrfToken(secret, shownTo))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Returns a field of a form; empty when the form does not have it. */
export function textIn(form: URLSearchParams | undefined, name: string): string {
  return form?.get(name) ?? '';
}

/** Returns a waiting time in words. */
export function formatWait(seconds: number): string {
  if (seconds < 90) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
