import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import createRouter from 'find-my-way';
import { errorBody } from './refusals.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Path of the request, if the path exists without this method. All hooks let the request pass, and it is refused
     * with 405 at the end.
     */
    refused: KnownPath | undefined;
  }
  interface FastifyContextConfig {
    /** Set on routes that only refuse methods which their path does not have. */
    refuses?: KnownPath;
  }
}

/** A path that has routes, as one of them spells it, with the methods of all of them. */
interface KnownPath {
  readonly url: string;
  readonly methods: ReadonlySet<string>;
}

/** URL of the route with which `@fastify/cors` answers preflights. It is not a path of the interface. */
const preflights = '*';

/**
 * Returns the path of a request as its routes spell it, even if the path does not have the method. Returns `undefined`
 * for an unknown path.
 */
export function pathOf({
  refused,
  routeOptions,
}: Pick<FastifyRequest, 'refused' | 'routeOptions'>): string | undefined {
  return refused?.url ?? routeOptions.url;
}

/**
 * Answers 405, in the usual shape of errors, for methods that a path does not have. Call the returned function when all
 * routes and hooks were added. A route for each of these methods would double the start time of a server, so the path
 * is looked up when no route matched.
 */
export function refuseOtherMethods(app: FastifyInstance, maxParamLength: number): () => void {
  const known = collectPaths(app);
  let find: ((url: string) => KnownPath | undefined) | undefined;
  app.decorateRequest('refused', undefined);
  app.addHook('onRequest', (request, _reply, next) => {
    const { url, config } = request.routeOptions;
    request.refused = config.refuses;
    if (app.supportedMethods.includes(request.method) && (request.is404 || url === preflights)) {
      find ??= createFinder([...known.values()], maxParamLength);
      request.refused = find(request.url);
    }
    next();
  });
  return () => {
    refuseShadowed(app, [...known.values()]);
    app.addHook('onRequest', ({ refused, method }, reply, next) => {
      if (refused === undefined) next();
      else refuse(refused, method, reply);
    });
  };
}

function collectPaths(app: FastifyInstance): ReadonlyMap<string, KnownPath> {
  const paths = new Map<string, { readonly url: string; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (url === preflights || config?.refuses !== undefined) return;
    // Paths that differ only in the names of their parameters are the same path.
    const path = url.replace(/:\w+/g, ':');
    const known = paths.get(path) ?? { url, methods: new Set() };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(path, known);
  });
  return paths;
}

/** Returns a function that finds the path of a URL as the router does, for any method. */
function createFinder(paths: readonly KnownPath[], maxParamLength: number): (url: string) => KnownPath | undefined {
  const router = createRouter({ maxParamLength });
  for (const path of paths) router.on('GET', path.url, () => {}, path);
  return (url) => router.find('GET', url)?.store ?? undefined;
}

/**
 * Adds routes that refuse a method, where the router would otherwise match another path that has the method: `PUT
 * /users/invites` is not a `PUT /users/:id`. Each of these routes may hide a further path, so all paths of a group get
 * the methods of the whole group.
 */
function refuseShadowed(app: FastifyInstance, paths: readonly KnownPath[]): void {
  for (const group of groupsOf(paths)) {
    const taken = [...new Set(group.flatMap(({ methods }) => [...methods]))];
    for (const path of group) {
      const method = taken.filter((name) => !path.methods.has(name));
      if (method.length === 0) continue;
      const handler = async (request: FastifyRequest, reply: FastifyReply) => refuse(path, request.method, reply);
      app.route({ method, url: path.url, exposeHeadRoute: false, config: { open: true, refuses: path }, handler });
    }
  }
}

/** Groups paths: two paths are in the same group when a URL may match both. */
function groupsOf(paths: readonly KnownPath[]): readonly (readonly KnownPath[])[] {
  let groups: readonly (readonly Split[])[] = [];
  for (const path of paths) {
    const split = { path, parts: path.url.split('/') };
    const near = groups.filter((group) => group.some(({ parts }) => overlap(split.parts, parts)));
    groups = [...groups.filter((group) => !near.includes(group)), [split, ...near.flat()]];
  }
  return groups.map((group) => group.map(({ path }) => path));
}

interface Split {
  readonly path: KnownPath;
  readonly parts: readonly string[];
}

/** Whether a URL may match both paths. */
function overlap(one: readonly string[], other: readonly string[]): boolean {
  for (let at = 0; at < one.length || at < other.length; at++) {
    const [mine, yours] = [one[at], other[at]];
    if (mine === '*' || yours === '*') return true;
    if (mine === undefined || yours === undefined) return false;
    if (mine !== yours && !mine.startsWith(':') && !yours.startsWith(':')) return false;
  }
  return true;
}

function refuse({ methods }: KnownPath, method: string, reply: FastifyReply): FastifyReply {
  const allow = [...methods].sort().join(', ');
  const body = errorBody(405, `${method} is not possible here; use ${allow}`);
  return reply.code(405).header('allow', allow).send(body);
}
