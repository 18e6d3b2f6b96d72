import type { JsonObject } from '../../../lib/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { verdictAbout, verdictOf } from '../deliveries/answer.ts';
import type { Verdict } from '../deliveries/target.ts';

/** A signed request as clients of AWS hand it on. */
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

/** One request of a client of AWS, which goes the way of all requests. */
interface Exchange {
  /** What the client gives its requests to. */
  readonly requestHandler: {
    readonly metadata: { readonly handlerProtocol: string };
    handle(request: AwsRequest): Promise<{ readonly response: object }>;
  };
  /** Runs the request; what the service answers, or that it does not, is a verdict. */
  verdictOf(work: () => Promise<Verdict>, now: () => number): Promise<Verdict>;
}

/** Answers are short. */
const mostAnswered = 4 * 1024 * 1024;

/** Prepares one request: a client signs it and reads the answer, and connects to nothing itself. */
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
          ...{ url, namedBy: 'user', method: methodOf(request), timeoutMs, maxBytes: mostAnswered },
          headers: headersOf(request),
          ...(request.body === undefined ? {} : { body: request.body }),
        });
        const { status: statusCode, headers, body } = answer;
        return { response: { statusCode, headers: textHeaders(headers), body } };
      },
    },
    verdictOf: (work, now) =>
      verdictAbout(async () => {
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
 * What clients of a service are made with: the settings alone. Everything is given that clients otherwise look for in the
 * environment and the files of the server, which are not the user's.
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
    // Deliveries are tried again by themselves.
    ...{ maxAttempts: 1, retryMode: 'standard', defaultsMode: 'standard' as const },
    ...{ useFipsEndpoint: false, useDualstackEndpoint: false, authSchemePreference: [], userAgentAppId: 'heddle' },
  };
}

function urlOf({ protocol, hostname, port, path, query = {} }: AwsRequest): URL {
  const parameters = Object.entries(query)
    .flatMap(([name, value]) =>
      [value].flat().map((one) => (one === null ? escaped(name) : `${escaped(name)}=${escaped(one)}`)),
    )
    .join('&');
  const address = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
  return new URL(parameters === '' ? address : `${address}?${parameters}`);
}

/** As signatures count it. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function methodOf({ method }: AwsRequest): NonNullable<OutboundRequest['method']> {
  if (method === 'PUT' || method === 'POST') return method;
  throw new Error(`a client of AWS wants to send ${method}, which it has no reason for`);
}

/** The body goes at once, so that there is nothing to wait for; the name of this program is in its own place. */
const notSent: readonly string[] = ['expect', 'user-agent'];

function headersOf({ headers }: AwsRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !notSent.includes(name.toLowerCase())));
}

function textHeaders(headers: OutboundAnswer['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
}

/** By itself it becomes possible. */
const passing: ReadonlySet<string> = new Set([
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

/** What is wrong is a setting here or there, whatever the events are. */
const settingCodes: ReadonlySet<string> = new Set([
  ...['InvalidBucketName', 'InvalidKMSResourceException', 'InvalidRequest', 'InvalidStorageClass'],
  ...['KMS.DisabledException', 'KMS.InvalidStateException', 'KMS.NotFoundException', 'OptInRequired'],
]);

/**
 * Services say by a code what their statuses do not: 400 is also what they answer to wrong credentials. A code that is not
 * known is taken for one about what was sent, so that one event cannot stop all that come after it.
 */
function verdictOfError(code: string, answer: OutboundAnswer, host: string, now: number): Verdict {
  const { status } = answer;
  if (status < 300) return { outcome: 'retry', reason: `${host} answers what no such service would` };
  const verdict = verdictOf(answer, host, now);
  if (!/^[A-Z]\w{3,60}$/.test(code) || code === 'Error' || code === 'Unknown' || code === 'UnknownError')
    return verdict;
  const said = `${host} answers ${status} ${code}`;
  if (verdict.outcome === 'retry') return { ...verdict, reason: said };
  if (passing.has(code)) return { outcome: 'retry', reason: said };
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
