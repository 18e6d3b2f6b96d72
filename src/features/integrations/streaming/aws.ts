import type { JsonObject } from '../../../lib/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { verdictOf, verdictOfRequest } from '../deliveries/answer.ts';
import type { Verdict } from '../deliveries/target.ts';

/** A signed request, as AWS clients pass it to their request handler. */
interface AwsRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** One request of an AWS client, sent by the outbound client as all requests are. */
interface Exchange {
  /** Request handler to configure in the AWS client. */
  readonly requestHandler: {
    readonly metadata: { readonly handlerProtocol: string };
    handle(request: AwsRequest): Promise<{ readonly response: object }>;
  };
  /** Runs the request and returns the verdict for the answer of the service, or for its failure to answer. */
  verdictOf(work: () => Promise<Verdict>, now: () => number): Promise<Verdict>;
}

/** Maximum size of an answer, in bytes. Answers are short. */
const maxResponseBytes = 4 * 1024 * 1024;

/** Prepares one request. The AWS client signs the request and parses the answer, but opens no connection itself. */
export function openExchange(outbound: Pick<Outbound, 'send'>, timeoutMs: number): Exchange {
  let host = 'the service';
  let answer: OutboundAnswer | undefined;
  return {
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      async handle(request) {
        const url = urlOf(request);
        host = url.host;
        answer = await outbound.send('streaming', {
          ...{ url, namedBy: 'user', method: methodOf(request), timeoutMs, maxBytes: maxResponseBytes },
          headers: headersOf(request),
          ...(request.body === undefined ? {} : { body: request.body }),
        });
        const { status: statusCode, headers, body } = answer;
        return { response: { statusCode, headers: textHeaders(headers), body } };
      },
    },
    verdictOf: (work, now) =>
      verdictOfRequest(async () => {
        try {
          return await work();
        } catch (error) {
          if (error instanceof OutboundFailure && error.outcome === 'redirected')
            return { outcome: 'pause', reason: `${host} answers with a redirect; see whether the region is right` };
          if (answer === undefined || !(error instanceof Error)) throw error;
          return verdictOfError(error.name, answer, host, now());
        }
      }),
  };
}

/**
 * Returns the options of an AWS client, made from the settings of the channel only. Every option is set that the client
 * would otherwise look up in the environment and files of the server, which do not belong to the user.
 */
export function awsClientOptions(service: 's3' | 'firehose', settings: JsonObject, { requestHandler }: Exchange) {
  const { access_key_id, secret_access_key } = settings;
  const [region, endpoint] = [settings['region'], settings['endpoint']].map((text) =>
    typeof text === 'string' ? text : '',
  );
  const domain = region?.startsWith('cn-') === true ? 'amazonaws.com.cn' : 'amazonaws.com';
  return {
    requestHandler,
    region: region ?? '',
    endpoint: endpoint === '' || endpoint === undefined ? `https://${service}.${region}.${domain}` : endpoint,
    credentials: { accessKeyId: String(access_key_id), secretAccessKey: String(secret_access_key) },
    // The client must not retry: deliveries are retried anyway.
    ...{ maxAttempts: 1, retryMode: 'standard', defaultsMode: 'standard' as const },
    ...{ useFipsEndpoint: false, useDualstackEndpoint: false, authSchemePreference: [], userAgentAppId: 'heddle' },
  };
}

function urlOf({ protocol, hostname, port, path, query = {} }: AwsRequest): URL {
  const parameters = Object.entries(query)
    .flatMap(([name, value]) =>
      [value].flat().map((one) => (one === null ? escapeUri(name) : `${escapeUri(name)}=${escapeUri(one)}`)),
    )
    .join('&');
  const address = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
  return new URL(parameters === '' ? address : `${address}?${parameters}`);
}

/** Escapes a text as AWS signatures require. */
function escapeUri(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function methodOf({ method }: AwsRequest): NonNullable<OutboundRequest['method']> {
  if (method === 'PUT' || method === 'POST') return method;
  throw new Error(`an AWS client tried to send an unexpected ${method} request`);
}

/**
 * Headers that are not passed on. The body is sent immediately, so `Expect` has no use, and the outbound client sets
 * its own `User-Agent`.
 */
const droppedHeaders: readonly string[] = ['expect', 'user-agent'];

function headersOf({ headers }: AwsRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !droppedHeaders.includes(name.toLowerCase())));
}

function textHeaders(headers: OutboundAnswer['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
}

/** Error codes of conditions that pass without a change of settings. */
const transientCodes: ReadonlySet<string> = new Set([
  ...['BadDigest', 'IncompleteBody', 'InternalFailure', 'LimitExceededException', 'OperationAborted', 'RequestTimeout'],
  ...['ServiceUnavailable', 'ServiceUnavailableException', 'SlowDown', 'Throttling', 'ThrottlingException'],
]);
const credentialCodes: ReadonlySet<string> = new Set([
  ...['AccessDenied', 'AccessDeniedException', 'ExpiredToken', 'InvalidAccessKeyId', 'InvalidSignatureException'],
  ...[
    'IncompleteSignature',
    'InvalidClientTokenId',
    'InvalidToken',
    'MissingAuthenticationToken',
    'TokenRefreshRequired',
  ],
  ...['SignatureDoesNotMatch', 'UnrecognizedClientException'],
]);
const addressCodes: ReadonlySet<string> = new Set(['NoSuchBucket', 'ResourceNotFoundException']);
const regionCodes: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);

/** Error codes of wrong settings, in Heddle or in the service. They do not depend on the events. */
const settingCodes: ReadonlySet<string> = new Set([
  ...['InvalidBucketName', 'InvalidKMSResourceException', 'InvalidRequest', 'InvalidStorageClass'],
  ...['KMS.DisabledException', 'KMS.InvalidStateException', 'KMS.NotFoundException', 'OptInRequired'],
]);

/**
 * Returns the verdict for an error code. The status alone is not enough: services answer 400 for wrong credentials,
 * too. An unknown code counts as an error of the events that were sent, so that a single event cannot block all later
 * ones.
 */
function verdictOfError(code: string, answer: OutboundAnswer, host: string, now: number): Verdict {
  const { status } = answer;
  if (status < 300) return { outcome: 'retry', reason: `${host} does not answer like the expected service` };
  const verdict = verdictOf(answer, host, now);
  if (!/^[A-Z]\w{3,60}$/.test(code) || code === 'Error' || code === 'Unknown' || code === 'UnknownError')
    return verdict;
  const said = `${host} answers ${status} ${code}`;
  if (verdict.outcome === 'retry') return { ...verdict, reason: said };
  if (transientCodes.has(code)) return { outcome: 'retry', reason: said };
  if (verdict.outcome === 'refused' && !isAboutSettings(code)) return { outcome: 'refused', reason: said };
  return { outcome: 'pause', reason: `${said}; ${adviceFor(code)}` };
}

function isAboutSettings(code: string): boolean {
  return [credentialCodes, addressCodes, regionCodes, settingCodes].some((codes) => codes.has(code));
}

function adviceFor(code: string): string {
  if (credentialCodes.has(code)) return 'see whether the credentials are right and may write there';
  if (addressCodes.has(code)) return 'see whether the name and the region are right';
  if (regionCodes.has(code)) return 'see whether the region is right';
  return 'see whether the settings are right';
}
