import type { FastifyInstance } from 'fastify';
import { openOperations } from './description.ts';

/**
 * Every route that wants none of the account's credentials, and what guards it instead. A route is open because its
 * declaration says so or because it stands here, and for no other reason.
 */
export const openRoutes: Readonly<Record<string, string>> = {
  ...openOperations,
  'GET /oidc/me': 'wants a token of the identity provider itself',
  'GET /oidc/*': 'is how programs get people signed in; OpenID Connect says what guards each step',
  'POST /oidc/*': 'is how programs get people signed in; OpenID Connect says what guards each step',
  'POST /oidc/token/revocation': 'wants the token that it takes back, and the program to which it was given',
  'GET /signin/account': 'wants the session of a browser that signed in',
  'POST /signin/account': 'wants that session and a form that was shown in it',
  'GET /signin/:uid': 'wants the cookie of the sign-in, and asks who it is',
  'POST /signin/:uid': 'wants that cookie and a form that was shown with it; guesses are slowed down',
};

/** Routes that configuration may open. */
const openable: Readonly<Record<string, string>> = {
  'GET /metrics': '/metrics',
  'GET /docs': '/docs',
  'GET /api/openapi.json': '/api/openapi.json',
};

/** Opens the routes that are in the list, and of those that configuration may open the ones that it names. */
export function openListedRoutes(app: FastifyInstance, opened: readonly string[]): void {
  app.addHook('onRoute', (route) => {
    const names = [route.method].flat().map((method) => `${method === 'HEAD' ? 'GET' : method} ${route.url}`);
    const isListed = names.every((name) => name in openRoutes || opened.includes(openable[name] ?? ''));
    if (isListed) route.config = { ...route.config, open: true };
    else if (route.config?.open === true && route.config.refuses === undefined)
      throw new Error(`${names.join(', ')} is open but not in the list of open routes; say there what guards it`);
  });
}
