import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request of a browser for one of our own pages. */
export interface WebRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** What a form holds; absent when the page is only looked at. */
  readonly form?: URLSearchParams;
  /** Where it comes from. */
  readonly address: string;
}

/** What a browser is answered: a page, or where to go. */
export type WebAnswer =
  | {
      readonly status: number;
      readonly page: string;
      /** Where forms of the page may lead besides this server. */
      readonly targets?: readonly string[];
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly location: string };

/** What proves that a form comes from a page that was shown to this very browser. */
export function formToken(secret: string, shownTo: string): string {
  return createHmac('sha256', secret).update(`form ${shownTo}`).digest('base64url');
}

/** Whether a form was sent by our own page in the same browser. */
export function isOurForm({ req, form }: WebRequest, secret: string, shownTo: string): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined && !['same-origin', 'none'].includes(String(site))) return false;
  const [given, expected] = [Buffer.from(textIn(form, 'csrf')), Buffer.from(formToken(secret, shownTo))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** A field of a form, empty when it is not there. */
export function textIn(form: URLSearchParams | undefined, name: string): string {
  return form?.get(name) ?? '';
}

/** How long to wait, in words. */
export function inWords(seconds: number): string {
  if (seconds < 90) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
