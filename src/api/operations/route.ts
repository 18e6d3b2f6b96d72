/** Returns the path of an operation in the syntax of Fastify. */
export function routeOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
