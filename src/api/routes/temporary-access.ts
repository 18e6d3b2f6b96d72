import { findCreated } from '../../features/config/plans/recover.ts';
import { grantTemporaryAccess, type TemporaryAccessBody } from '../../features/peers/temporary-access.ts';
import type { JsonObject } from '../../lib/json.ts';
import { readPublicKey, tunnelSpelling } from '../../lib/public-key.ts';
import { InvalidInput } from '../../model/errors.ts';
import { json, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import type { Problem } from '../../model/problem.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import type { Recover } from '../idempotency.ts';
import { objectBody } from '../input/bodies.ts';

const path = '/api/peers/{peerId}/temporary-access';

const text = (description: string): JsonObject => ({ type: 'string', description });
const rules = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description });

const grammar = 'Each `all`, `icmp`, or a protocol (`tcp`, `udp`, `ssh`) with a port or a range, such as `tcp/22`.';

/** Lets somebody reach a peer for a while. */
export const temporaryAccess: AreaRoutes = {
  add(app, engine) {
    const access = { module: 'peers', operation: 'create' } as const;
    const recover: Recover = async (request, _reply, { revision = 0 }) => {
      const made = await findCreated(engine, callOf(request), engine.registry.get('Peer'), revision);
      const { name, rules } = readTemporaryAccess(objectBody(request.body));
      return made === undefined ? undefined : { name, id: made.object.id, rules };
    };
    app.post('/api/peers/:id/temporary-access', { config: { access, recover } }, async (request, reply) => {
      // The route names the parameter.
      const { id } = request.params as { readonly id: string };
      return reply.send(
        await grantTemporaryAccess(engine, callOf(request), id, readTemporaryAccess(objectBody(request.body))),
      );
    });
  },
  paths: {
    [path]: {
      ...pathParameters(path, () => ({ description: 'The id of the peer.', schema: { type: 'string' } })),
      post: operation({
        id: 'grantTemporaryAccess',
        tag: 'peers',
        summary: 'Let somebody reach a peer for a while',
        description:
          'Makes a peer with this key that reaches this one by these rules and nobody else. It comes to life when whoever asked enrols with the key (`POST /agent/enrol`), which shows that it is theirs; until then it keeps nobody else who holds the key from enrolling. It goes, with its policies, 30 s after it disconnects, or after 10 minutes when it never connects.',
        body: json(
          {
            type: 'object',
            required: ['name', 'wg_pub_key', 'rules'],
            properties: {
              name: { type: 'string', minLength: 1, maxLength: 255, description: 'The host name of the new peer.' },
              wg_pub_key: text('The public X25519 key of its tunnel, base64.'),
              rules: { ...rules(`What it may open. ${grammar}`), minItems: 1, maxItems: 100 },
            },
          },
          { name: 'browser', wg_pub_key: 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=', rules: ['tcp/22'] },
        ),
        answer: json(
          {
            type: 'object',
            required: ['name', 'id', 'rules'],
            properties: { name: text('Its name.'), id: text('Its id.'), rules: rules('What it may open.') },
          },
          { name: 'browser', id: 'ch8i4ug6lnn4g9hqv7n0', rules: ['tcp/22'] },
        ),
        errors: [400, 401, 403, 404, 409, 413, 415, 422, 429, 503],
      }),
    },
  },
};

const mostRules = 100;

function readTemporaryAccess(body: JsonObject): TemporaryAccessBody {
  const { name, wg_pub_key, rules: given } = body;
  const problems: Problem[] = [];
  const fault = (member: string, message: string): void => {
    const isMissing = body[member] === undefined || body[member] === null;
    problems.push(
      isMissing
        ? { code: 'field_required', path: `/${member}`, message: `\`${member}\` is required; add it` }
        : { code: 'value_not_allowed', path: `/${member}`, message: `\`${member}\` must be ${message}` },
    );
  };
  if (typeof name !== 'string' || name === '' || name.length > 255) fault('name', 'a text of 1 to 255 characters');
  const key = typeof wg_pub_key === 'string' ? readPublicKey(wg_pub_key) : undefined;
  if (key === undefined) fault('wg_pub_key', 'an X25519 key: 32 bytes in base64');
  const isList = Array.isArray(given) && given.every((rule) => typeof rule === 'string');
  if (!isList || given.length === 0 || given.length > mostRules) fault('rules', `a list of 1 to ${mostRules} texts`);
  if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
  return {
    name: String(name),
    tunnelKey: tunnelSpelling(key ?? ''),
    rules: isList ? [...new Set(given.map(String))] : [],
  };
}
