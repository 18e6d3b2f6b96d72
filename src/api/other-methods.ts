import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import createRouter from 'find-my-way';
import { errorBody } from './refusals.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The path that the request names, when it has no such method: every hook lets it pass, and it is refused with 405. */
    refused: KnownPath | undefined;
  }
  interface FastifyContextConfig {
    /** The route is there for methods that this path has not. */
    refuses?: KnownPath;
  }
}

/** A path that routes have, as one of them spells it, with the methods of all of them. */
interface KnownPath {
  readonly url: string;
  readonly methods: ReadonlySet<string>;
}

/** What `@fastify/cors` answers preflights by. It is no path. */
const preflights = '*';

/** The path of a request as routes spell it, whether or not it has the method; `undefined` where nothing is. */
export function pathOf({
  refused,
  routeOptions,
}: Pick<FastifyRequest, 'refused' | 'routeOptions'>): string | undefined {
  return refused?.url ?? routeOptions.url;
}

/**
 * Refuses methods that a path has not, in the one shape of errors. The function it returns is called when all routes and
 * hooks are there. A route for each of these methods would double the time that a server takes to start, so that a path is
 * looked for when no route was found.
 */
export function refuseOtherMethods(app: FastifyInstance, maxParamLength: number): () => void {
  const known = collectPaths(app);
  let find: ((url: string) => KnownPath | undefined) | undefined;
  app.decorateRequest('refused', undefined);
  app.addHook('onRequest', async (request) => {
    const { url, config } = request.routeOptions;
    request.refused = config.refuses;
    if (!app.supportedMethods.includes(request.method) || !(request.is404 || url === preflights)) return;
    find ??= createFinder([...known.values()], maxParamLength);
    request.refused = find(request.url);
  });
  return () => {
    refuseShadowed(app, [...known.values()]);
    app.addHook('onRequest', async ({ refused, method }, reply) => refused && refuse(refused, method, reply));
  };
}

function collectPaths(app: FastifyInstance): ReadonlyMap<string, KnownPath> {
  const paths = new Map<string, { readonly url: string; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (url === preflights || config?.refuses !== undefined) return;
    // Whatever routes call their parameters, it is one path.
    const path = url.replace(/:\w+/g, ':');
    const known = paths.get(path) ?? { url, methods: new Set() };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(path, known);
  });
  return paths;
}

/** Finds the path of an address as the router does, but whatever the method is. */
function createFinder(paths: readonly KnownPath[], maxParamLength: number): (url: string) => KnownPath | undefined {
  const router = createRouter({ maxParamLength });
  for (const path of paths) router.on('GET', path.url, () => {}, path);
  return (url) => router.find('GET', url)?.store ?? undefined;
}

/**
 * Refuses methods by routes where the router would take an address for another path that has them: `PUT /users/invites` is
 * no `PUT /users/:id`. Each such route may hide the next path, so that all of a group have the methods of all.
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

/** The paths, together where an address may be of one or of the other. */
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

/** Whether an address may be of both paths. */
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
