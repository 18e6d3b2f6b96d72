import type { Engine } from '../../commit/engine.ts';
import { isOperatorAccount } from '../../commit/operator.ts';
import type { Authenticator } from '../../features/auth/authenticate.ts';
import { isSetupRequired, setUp } from '../../features/auth/setup.ts';
import type { JsonObject } from '../../lib/json.ts';
import { header, json, operation } from '../../model/lower/openapi/operation.ts';
import { makeAnswer, sendAnswer } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { objectBody } from '../input/bodies.ts';

const instancePath = '/api/instance';
const setupPath = '/api/setup';

/** How an installation gets its first person. */
export const instance: AreaRoutes = {
  add(app, engine, { authenticator }) {
    app.get(instancePath, async (request, reply) => {
      const body = { setup_required: await isSetupRequired(engine) };
      return sendAnswer(request, reply.header('cache-control', 'no-store'), makeAnswer({ version: 0, body }));
    });
    app.post(setupPath, async (request, reply) => {
      const mayReopen = () => isTrusted(engine, authenticator, request.headers.authorization);
      return reply.header('cache-control', 'no-store').send(await setUp(engine, objectBody(request.body), mayReopen));
    });
  },
  paths: {
    [instancePath]: {
      get: operation({
        ...{ id: 'readInstance', tag: 'instance', summary: 'Ask whether the first person is still to come' },
        open: true,
        ...{ parameters: [header('IfNoneMatch')], headers: ['ETag'], unchanged: true },
        answer: json(
          members({ setup_required: { type: 'boolean', description: 'Whether `POST /api/setup` makes an owner.' } }),
          { setup_required: true },
        ),
        errors: [429, 503],
      }),
    },
    [setupPath]: {
      post: operation({
        ...{ id: 'setUp', tag: 'instance', summary: 'Make the first person', open: true },
        description:
          "An owner, who signs in with the address and the password from then on. Of all who try at once one comes through; afterwards it is refused with 412. A server whose people are all gone wants the operator's token, or that of the machine owner.",
        body: json(
          members(
            {
              email: { type: 'string', minLength: 1, description: 'The address by which the person signs in.' },
              name: { type: 'string', minLength: 1, description: 'The name people see.' },
              password: { type: 'string', minLength: 8, maxLength: 1024, description: 'The password.' },
              create_pat: { type: 'boolean', description: 'Whether a personal access token is wanted too.' },
              pat_expire_in: { type: 'integer', minimum: 1, maximum: 365, default: 1, description: 'Its days.' },
            },
            ['email', 'name', 'password'],
          ),
          {
            ...{ email: 'first@example.com', name: 'Ana Lima', password: 'correct horse' },
            ...{ create_pat: true, pat_expire_in: 30 },
          },
        ),
        answer: json(
          members(
            {
              user_id: { type: 'string', description: 'The id of the person.' },
              email: { type: 'string', description: 'The address.' },
              personal_access_token: { type: 'string', description: 'The token that was wanted, shown this once.' },
            },
            ['user_id', 'email'],
          ),
          { user_id: 'ch8i4ug6lnn4g9hqv7p0', email: 'first@example.com', personal_access_token: 'nbp_…' },
        ),
        errors: [400, 401, 403, 409, 412, 413, 415, 422, 429, 503],
      }),
    },
  },
};

/** Whether a call is the operator's, or the machine owner's of the operator's account. */
async function isTrusted(engine: Engine, authenticator: Authenticator, header: string | undefined): Promise<boolean> {
  if (header === undefined || header === '') return false;
  if (authenticator.isOperator(header)) return true;
  const { account, revision, actor, planOnly } = await authenticator.authenticate(header);
  if (planOnly === true || !(await isOperatorAccount(engine, account))) return false;
  return (await engine.snapshots.at(account, revision)).find('User', actor.id)?.derived.system === 'owner';
}

function members(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: 'object', required, properties };
}
