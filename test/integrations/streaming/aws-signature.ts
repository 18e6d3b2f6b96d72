import { createHash, createHmac } from 'node:crypto';
import type { Arrived } from '../counterpart.ts';

/** Credentials with which a request must be signed, and their scope. */
export interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly service: string;
}

/** Maximum deviation of a client's clock, in milliseconds. */
const mostOff = 15 * 60_000;

/**
 * Returns what is wrong with the AWS Signature Version 4 of a request, or `undefined` when it is correct. Computes the
 * signature from the bytes received.
 */
export function signatureFault({ request, body }: Arrived, { service, ...signer }: Signer): string | undefined {
  const { authorization = '', 'x-amz-date': date, 'x-amz-content-sha256': stated } = request.headers;
  const [, key, scope = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  if (key !== signer.accessKeyId) return `the key is ${String(key)}`;
  if (typeof date !== 'string' || !/^\d{8}T\d{6}Z$/.test(date)) return `the date is ${String(date)}`;
  if (Math.abs(Date.now() - momentOf(date)) > mostOff) return 'the date is too far off';
  if (scope !== `${date.slice(0, 8)}/${signer.region}/${service}/aws4_request`) return `the scope is ${scope}`;
  const names = signed.split(';');
  const mustBe = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))];
  const missing = mustBe.filter((name) => !names.includes(name));
  if (missing.length > 0) return `unsigned: ${missing.join(', ')}`;
  const hash = createHash('sha256').update(body).digest('hex');
  if (service === 's3' && stated !== hash) return 'the hash of the body is wrong';
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const canonical = [
    ...[request.method, path, query.split('&').sort().join('&')],
    ...names.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    ...['', signed, hash],
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const signingKey = [date.slice(0, 8), signer.region, service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${signer.secretAccessKey}`,
  );
  const expected = createHmac('sha256', signingKey).update(text).digest('hex');
  return signature === expected ? undefined : 'the signature is another one';
}

function momentOf(date: string): number {
  return Date.parse(date.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'));
}
