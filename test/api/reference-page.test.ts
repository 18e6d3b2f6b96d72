import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();

/** Returns the part of the page about one operation, or an empty text when the page does not contain it. */
function operationIn(page: string, method: string, path: string): string {
  const start = page.indexOf(`<span class="method">${method}</span><code>${path}</code>`);
  return start < 0 ? '' : page.slice(start, page.indexOf('</details>', start));
}

it('the reference page shows the parameters, headers, statuses and open access of every operation', async () => {
  const page = String((await api().call('GET', '/docs')).body);
  const { paths, components } = (await api().call('GET', '/api/openapi.json')).body;
  const named = (parameter: JsonObject): string =>
    String(parameter['name'] ?? components.parameters[String(parameter['$ref']).split('/').at(-1) ?? ''].name);
  for (const [path, item] of Object.entries(paths as Readonly<Record<string, JsonObject>>)) {
    const { parameters: shared = [], ...operations } = item as { readonly parameters?: readonly JsonObject[] };
    for (const [method, value] of Object.entries(operations)) {
      const {
        parameters = [],
        responses,
        security,
      } = value as {
        readonly parameters?: readonly JsonObject[];
        readonly responses: JsonObject;
        readonly security?: readonly unknown[];
      };
      const shown = operationIn(page, method.toUpperCase(), path);
      for (const parameter of [...shared, ...parameters]) expect(shown).toContain(`<code>${named(parameter)}</code>`);
      for (const [status, response] of Object.entries(responses)) {
        expect(shown).toContain(`<td>${status}</td>`);
        for (const header of Object.keys((response as JsonObject)['headers'] ?? {}))
          expect(shown).toContain(`<code>${header}</code>`);
      }
      expect(shown.includes('Open: no credentials')).toBe(security?.length === 0);
    }
  }
  expect(page).toContain('<h2>Authentication</h2>');
  expect(page).toContain('A personal access token: `Token &lt;PERSONAL_ACCESS_TOKEN&gt;`.');
});

it('the page at `/` needs no credentials, links the reference, and explains the links in notifications', async () => {
  const { statusCode, headers, body } = await api().app.inject({ url: '/' });
  expect([statusCode, headers['content-type'], headers['content-security-policy']]).toEqual([
    200,
    'text/html; charset=utf-8',
    "default-src 'none'; style-src 'unsafe-inline'",
  ]);
  for (const part of ['id="notifications"', '#objects/ID', '<a href="/docs">']) expect(body).toContain(part);
  expect((await api().app.inject({ url: '/docs' })).statusCode).toBe(401);
});
