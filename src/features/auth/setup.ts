import type { Call, Engine } from '../../commit/engine.ts';
import { hasPeople, putCredentials, requireFirst } from '../../db/accounts/credentials.ts';
import { findOperatorAccount, hadPeople } from '../../db/accounts/operator.ts';
import { putToken } from '../../db/accounts/tokens.ts';
import type { JsonObject } from '../../lib/json.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { Conflict, InvalidInput, Unauthenticated, Unavailable } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import { longest } from '../../model/schema/field.ts';
import { admit, type NewUserRequest } from '../accounts/admission.ts';
import { hashToken, tokenPrefix } from './authenticate.ts';
import { requireProvider } from './invites.ts';
import { hashPassword, passwordFault } from './passwords.ts';

/** Whether the first person is still to come. */
export async function isSetupRequired({ registry, database }: Engine): Promise<boolean> {
  const { embeddedIdp, localAuthDisabled } = registry.installation;
  return embeddedIdp && !localAuthDisabled && !(await hasPeople(database));
}

/** What the first person says. */
interface FirstPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  /** For how many days a token is wanted; absent: none. */
  readonly tokenDays?: number;
}

const day = 24 * 60 * 60 * 1000;

/**
 * Makes the first person, an owner. Of any number who try at once, one comes through. Throws `Conflict` afterwards. Where
 * there were people before, and are none any more, it is not for whoever comes by: `mayReopen` says whether the caller is
 * trusted, and `Unauthenticated` is thrown for others.
 */
export async function setUp(engine: Engine, body: JsonObject, mayReopen: () => Promise<boolean>): Promise<JsonObject> {
  requireProvider(engine);
  if (await hasPeople(engine.database)) throw done();
  if ((await hadPeople(engine.database)) && !(await mayReopen())) throw new Unauthenticated(closed);
  const person = readPerson(body);
  const found = await findOperatorAccount(engine.database);
  if (found === undefined)
    throw new Unavailable("the server has no operator's account yet; try again when it has started");
  const { account, revision } = found;
  const { email, name, password } = person;
  const id = engine.newId();
  const at = engine.now();
  const call: Call = { account, revision, actor: { type: 'user', id, name, email } };
  const token = person.tokenDays === undefined ? undefined : newToken(engine, { account, id, at }, person.tokenDays);
  const credentials = { account, email, user: id, hash: await hashPassword(password), oneTime: false, at };
  const beside = [
    putCredentials(credentials),
    requireFirst(account, id),
    ...(token === undefined ? [] : [putToken(token.record)]),
  ];
  const meta = { name: 'setup', is_service_user: 'false', user_name: name };
  const events = token === undefined ? [] : [{ code: 'personal.access.token.create', target: id, meta }];
  const user = { email, name, role: 'owner', auto_groups: [], is_service_user: false };
  const request: NewUserRequest = {
    id,
    email,
    name,
    role: 'owner',
    groups: [],
    body: user,
    options: { strict: false },
  };
  try {
    const derived = { status: 'active' };
    await admit(engine, call, request, { beside, isFound: true, derived, events, isByServer: true });
  } catch (error) {
    if (error instanceof Conflict && (await hasPeople(engine.database))) throw done();
    throw error;
  }
  return { user_id: id, email, ...(token === undefined ? {} : { personal_access_token: token.value }) };
}

function newToken(
  { planEnvironment, newId }: Engine,
  { account, id: user, at }: { readonly account: string; readonly id: string; readonly at: string },
  days: number,
) {
  const value = makeToken(tokenPrefix, planEnvironment.random(tokenRandomBytes));
  const expiresAt = new Date(Date.parse(at) + days * day).toISOString();
  const times = { createdAt: at, expiresAt };
  const record = { account, id: newId(), user, name: 'setup', hash: hashToken(value), createdBy: user, ...times };
  return { value, record };
}

const closed =
  "this server was set up before, and its people are gone; to set it up again send the operator's token, or that of the machine owner";

function done(): Conflict {
  return new Conflict('precondition', 'this server is set up already; sign in, or ask an owner to invite you');
}

function readPerson(body: JsonObject): FirstPerson {
  const { email, name, password, create_pat: wantsToken = false, pat_expire_in: days } = body;
  const problems: Problem[] = [];
  const refuse = (path: string, code: string, message: string) => problems.push({ code, path: `/${path}`, message });
  if (typeof email !== 'string' || email.trim() === '')
    refuse('email', 'field_required', '`email` is required: the address by which you will sign in');
  if (typeof name !== 'string' || name.trim() === '')
    refuse('name', 'field_required', '`name` is required: the name that people see');
  for (const [path, text] of Object.entries({ email, name }))
    if (typeof text === 'string' && text.length > longest.name)
      refuse(path, 'value_too_long', `\`${path}\` must have at most ${longest.name} characters`);
  const fault = passwordFault(password);
  if (fault !== undefined) refuse('password', 'password_invalid', `\`password\` ${fault}`);
  if (typeof wantsToken !== 'boolean' && wantsToken !== null)
    refuse('create_pat', 'type_wrong', '`create_pat` must be true or false');
  if (days !== undefined && days !== null && !isDays(days))
    refuse('pat_expire_in', 'value_out_of_range', '`pat_expire_in` must be a whole number of days from 1 to 365');
  if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
  const token = wantsToken === true ? { tokenDays: Number(days ?? 1) } : {};
  return { email: String(email).trim(), name: String(name), password: String(password), ...token };
}

function isDays(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 365;
}
