import type { Json, JsonObject } from '../../../lib/json.ts';
import { canonicalDomain } from '../../../lib/net/domain.ts';
import { serviceModes } from '../../../model/declare/service-words.ts';
import { InvalidInput } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import type { Exposure } from './exposure.ts';

const known = ['port', 'mode', 'name', 'cluster', 'password', 'pin'];

/** Reads the service that a peer wants to expose. Throws `InvalidInput` with all problems. */
export function readExposure(body: JsonObject): Exposure {
  const problems: Problem[] = [];
  const fault = (path: string, message: string): void => {
    problems.push({ code: 'exposure_invalid', path, message });
  };
  for (const name of Object.keys(body))
    if (!known.includes(name)) fault(`/${name}`, `\`${name}\` is not known; remove it`);
  const { port } = body;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535)
    fault('/port', '`port` must be a whole number from 1 to 65535: the port of the service on the machine');
  const mode = serviceModes.find((one) => one === (body['mode'] ?? 'http'));
  if (mode === undefined) fault('/mode', `\`mode\` must be one of ${serviceModes.join(', ')}`);
  const name = read(body['name'], (text) => !text.includes('.') && text.length <= 63);
  if (name === 'wrong') fault('/name', '`name` must be one DNS label: letters, digits and hyphens');
  const cluster = read(body['cluster'], () => true);
  if (cluster === 'wrong') fault('/cluster', '`cluster` must be the address of a cluster of proxies');
  const secrets = { password: body['password'], pin: body['pin'] };
  for (const [member, value] of Object.entries(secrets))
    if (value !== undefined && (typeof value !== 'string' || value === '' || value.length > 255))
      fault(`/${member}`, `\`${member}\` must be a text of 1 to 255 characters`);
  if (problems.length > 0 || mode === undefined)
    throw new InvalidInput(problems[0]?.message ?? 'the input is wrong', { problems });
  return {
    mode,
    port: Number(port),
    auth: authOf(secrets),
    ...asMember('name', name),
    ...asMember('cluster', cluster),
  };
}

/** Returns a DNS name in its canonical form, `undefined` when it is absent, `wrong` when it is invalid. */
function read(
  value: Json | undefined,
  fits: (text: string) => boolean,
): { readonly text: string } | 'wrong' | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? canonicalDomain(value) : undefined;
  return text !== undefined && fits(text) ? { text } : 'wrong';
}

function asMember(member: 'name' | 'cluster', found: ReturnType<typeof read>): Pick<Exposure, 'name' | 'cluster'> {
  return typeof found === 'object' ? { [member]: found.text } : {};
}

function authOf({ password, pin }: Readonly<Record<'password' | 'pin', Json | undefined>>): JsonObject {
  return {
    ...(password === undefined ? {} : { password_auth: { enabled: true, password } }),
    ...(pin === undefined ? {} : { pin_auth: { enabled: true, pin } }),
  };
}
