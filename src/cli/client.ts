import type { Config } from '../config.ts';
import { codeOf } from '../lib/error-code.ts';
import { isObject } from '../lib/json.ts';
import {
  Conflict,
  type HeddleError,
  Internal,
  InvalidInput,
  NotAllowed,
  NotFound,
  Unauthenticated,
  Unavailable,
} from '../model/errors.ts';
import { findMismatch } from '../model/operation/answer.ts';
import type { AnswerOf, InputOf, Operation } from '../model/operation/operation.ts';
import type { Problem } from '../model/problem.ts';
import type { Field } from '../model/schema/field.ts';

/** Answer of a server, whether success or refusal. */
export interface Answer {
  /** Base URL of the server that answered. */
  readonly server: string;
  readonly status: number;
  readonly text: string;
  /** Parsed body. `undefined` when it is not JSON. */
  readonly body: unknown;
  /** Whether the answer has a `Retry-After` header, so that the same request may be sent again soon. */
  readonly passing: boolean;
}

/**
 * HTTP client for one server. Methods throw only when the server cannot be reached, except `download`; see
 * `requireSuccess` for refusals.
 */
export interface Client {
  readonly server: string;
  get(path: string): Promise<Answer>;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Returns the bytes of an answer as a stream. Throws when the server refuses. */
  download(path: string): Promise<AsyncIterable<Uint8Array>>;
  upload(path: string, bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Answer>;
}

/** Settings that determine the server and the credentials of a client. */
export const clientSettings = ['server', 'token', 'dataDir', 'configDir'] as const;

/** Creates the client of a command. Throws `Unauthenticated` when no credentials are found. */
export async function connect(config: Pick<Config, (typeof clientSettings)[number]>): Promise<Client> {
  // Imported on demand: `fmt` connects to a server only for a rare option.
  const { authorizationOf } = await import('./login/authorization.ts');
  const authorize = await authorizationOf(config);
  const headersNow = async () => ({ authorization: await authorize(), accept: 'application/json, text/yaml' });
  const get = async (path: string) => fetchAnswer(config.server, path, { headers: await headersNow() });
  return {
    server: config.server,
    get,
    async post(path, body, more = {}) {
      const json = { ...(await headersNow()), ...more, 'content-type': 'application/json' };
      return fetchAnswer(config.server, path, { method: 'POST', headers: json, body: JSON.stringify(body) });
    },
    delete: async (path) => fetchAnswer(config.server, path, { method: 'DELETE', headers: await headersNow() }),
    download: async (path) => stream(config.server, path, { headers: { ...(await headersNow()), accept: '*/*' } }),
    upload: async (path, body, type) =>
      fetchAnswer(config.server, path, {
        method: 'POST',
        headers: { ...(await headersNow()), 'content-type': type },
        body,
      }),
  };
}

type OrTexts<Values> = { readonly [Name in keyof Values]: Values[Name] | string };

/** Allows any text for members that are enumerations, because the server checks and lists the valid values. */
type OrOtherWords<Values> = {
  readonly [Name in keyof Values]: Values[Name] extends string | undefined ? string : Values[Name];
};

/**
 * Input of a command for an operation. Path and query parameters may be texts as the user typed them; the server parses
 * them.
 */
export interface OperationInput<O extends Operation> {
  readonly params?: OrTexts<InputOf<O>['params']>;
  readonly query?: Partial<OrTexts<InputOf<O>['query']>>;
  readonly body?: OrOtherWords<InputOf<O>['body']>;
  /** Sent instead of `body`, for operations that take bytes. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls an operation and returns its answer. Throws when the server refuses, and when the answer does not match the
 * declaration of the operation.
 */
export async function call<O extends Operation>(
  client: Client,
  operation: O,
  given: OperationInput<O> = {},
): Promise<AnswerOf<O>> {
  return readAnswer(operation, await send(client, operation, given));
}

/** Sends the request of an operation. A refusal is returned as an answer, so that the command can handle it. */
export function send<O extends Operation>(
  client: Client,
  operation: O,
  given: OperationInput<O> = {},
): Promise<Answer> {
  const { method, bytesBody } = operation;
  const { body = {}, bytes, headers } = given;
  const address = addressOf(operation, given);
  switch (method) {
    case 'GET':
      return client.get(address);
    case 'POST':
      if (bytes === undefined) return client.post(address, body, headers);
      return client.upload(address, bytes, bytesBody?.types[0] ?? 'application/octet-stream');
    case 'DELETE':
      return client.delete(address);
    case 'PUT':
      throw new Error(`${address}: no command replaces anything`);
  }
}

/** Returns the bytes of an operation's answer as a stream. Throws when the server refuses. */
export function download<O extends Operation>(
  client: Client,
  operation: O,
  given: OperationInput<O> = {},
): Promise<AsyncIterable<Uint8Array>> {
  return client.download(addressOf(operation, given));
}

/**
 * Returns the answer of an operation. Throws when the server refused, and when the answer does not match the
 * declaration of the operation.
 */
export function readAnswer<O extends Operation>({ id, answer, answerType }: O, given: Answer): AnswerOf<O> {
  const { server, text, ...accepted } = requireSuccess(given);
  const body = answerType === undefined ? accepted.body : text;
  // An answer without a declaration is ignored. Any other answer is checked against its declaration, so the cast is
  // safe.
  return (answer === undefined ? undefined : readValue(answer, body, { server, id })) as AnswerOf<O>;
}

/** Returns the value if it matches the field, else throws. `id` names the operation that answered, for the message. */
export function readValue<T>(
  field: Field<T>,
  value: unknown,
  { server, id }: { readonly server: string; readonly id: string },
): T {
  const misfit = findMismatch(field, value);
  // The cast is safe: the value matches the field.
  if (misfit === undefined) return value as T;
  const where = misfit === '' ? '' : ` at ${misfit}`;
  throw unreadableAnswer(server, id, value === undefined ? 'no JSON' : `something else${where}`);
}

/**
 * Returns the error for an answer that does not match the API. `asked` is an operation or a path, `what` the unexpected
 * content.
 */
export function unreadableAnswer(server: string, asked: string, what: string): Internal {
  return new Internal(
    `${server} answered ${asked} with ${what}, which this program cannot read; name a Heddle server with --server, and use the version of heddle that matches it.`,
  );
}

function addressOf<O extends Operation>({ path }: O, { params, query = {} }: OperationInput<O>): string {
  const values: Readonly<Record<string, unknown>> = params ?? {};
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const texts = new URLSearchParams(Object.fromEntries(pairs.map(([name, value]) => [name, String(value)])));
  return pairs.length === 0 ? address : `${address}?${texts}`;
}

const tokenHint = (server: string) =>
  ` (${server} refused the token; give one of this server with --token or HEDDLE_TOKEN, or sign in with \`heddle login --server ${server}\`)`;

/**
 * Returns the answer if its status is 2xx. Otherwise throws the exception for its status, which determines the exit
 * code. `hint` is appended when the credentials were refused (401).
 */
export function requireSuccess<A extends Omit<Answer, 'passing'>>(answer: A, hint = tokenHint(answer.server)): A {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw refusalOf(answer, hint);
}

function refusalOf({ status, body, text }: Omit<Answer, 'passing'>, hint: string): HeddleError {
  const given = isObject(body) && typeof body['message'] === 'string' ? body['message'] : text.trim().slice(0, 200);
  const message = given === '' ? `The server answered ${status} without a reason.` : given;
  const problems = isObject(body) && Array.isArray(body['problems']) ? documentProblems(body['problems']) : [];
  switch (status) {
    case 400:
    case 413:
    case 422:
      return new InvalidInput(message, { problems });
    case 401:
      return new Unauthenticated(`${message}${hint}`);
    case 403:
      return new NotAllowed(message);
    case 404:
    case 410:
      return new NotFound(message);
    case 409:
      return new Conflict('taken', message, { problems });
    case 412:
    case 423:
      return new Conflict('stale', message, { problems });
    case 503:
      return new Unavailable(message);
    default:
      return new Internal(`The server answered ${status}: ${message}`, { problems });
  }
}

/** Removes problems of query parameters, which are not faults of a document. */
function documentProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ code }) => code !== 'filter_invalid');
}

async function fetchAnswer(server: string, path: string, request: RequestInit): Promise<Answer> {
  try {
    return await answerOf(server, await fetch(`${server}${path}`, { redirect: 'error', ...request }));
  } catch (error) {
    throw unreachable(server, error);
  }
}

async function answerOf(server: string, response: Response): Promise<Answer> {
  const text = await response.text();
  const passing = response.headers.has('retry-after');
  return { server, status: response.status, text, body: jsonOf(response, text), passing };
}

async function stream(server: string, path: string, request: RequestInit): Promise<AsyncIterable<Uint8Array>> {
  const response = await fetch(`${server}${path}`, { redirect: 'error', ...request }).catch((error: unknown) => {
    throw unreachable(server, error);
  });
  if (!response.ok) requireSuccess(await answerOf(server, response));
  return chunksOf(server, response);
}

async function* chunksOf(server: string, { body }: Response): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* body;
  } catch (error) {
    throw new Unavailable(`The answer of ${server} broke off (${reasonOf(error)}); try again.`, { cause: error });
  }
}

function unreachable(server: string, error: unknown): Unavailable {
  return new Unavailable(
    `No server answers at ${server} (${reasonOf(error)}); start one with \`heddle serve\`, or name yours with --server.`,
    { cause: error },
  );
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
}

function jsonOf(response: Response, text: string): unknown {
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The body is cut short, or is not JSON despite its type. The text is still shown.
    return undefined;
  }
}
