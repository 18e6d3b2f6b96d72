import type { ServerResponse } from 'node:http';
import { crc32, gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../../src/lib/json.ts';
import { type Answer, type Arrived, type Counterpart, startCounterpart, type Tls } from '../counterpart.ts';
import { signatureFault } from './aws-signature.ts';

/** Credentials for signing. The region does not exist. */
export const credentials = { access_key_id: 'AKIATEST', secret_access_key: 'aws/secret+text', region: 'eu-test-1' };

const signer = {
  ...{ accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key },
  region: credentials.region,
};

/** An object as it was uploaded. */
export interface PutObject {
  readonly key: string;
  readonly body: Buffer;
  readonly events: readonly JsonObject[];
}

/** A bucket with path-style URLs: `/bucket/key`. */
export interface Bucket extends Counterpart<PutObject> {
  /** Stored objects, by key. */
  readonly objects: ReadonlyMap<string, PutObject>;
}

/** Starts an S3 server with one bucket that checks the rules that the S3 documentation sets for PutObject. */
export async function startBucket(name: string, tls?: Tls): Promise<Bucket> {
  const objects = new Map<string, PutObject>();
  const counterpart = await startCounterpart<PutObject>({
    tls,
    read: (arrived) => readPut(arrived, name),
    accept(response, message) {
      objects.set(message.key, message);
      response.writeHead(200, { etag: '"e"' }).end();
    },
    refuse: (response, status) =>
      status < 500 ? response.writeHead(status).end() : refuseS3('SlowDown')(response, status),
  });
  return { ...counterpart, objects };
}

/** Returns an error answer of S3. */
export function s3Error(status: number, code: string): Answer {
  return (response) => refuseS3(code)(response, status);
}

function refuseS3(code: string): (response: ServerResponse, status: number) => void {
  return (response, status) => {
    const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
    response.writeHead(status, { 'content-type': 'application/xml' }).end(text);
  };
}

function readPut(arrived: Arrived, bucket: string): PutObject | string {
  const { request, body } = arrived;
  const { headers, method, url = '' } = request;
  const fault = signatureFault(arrived, { ...signer, service: 's3' });
  if (fault !== undefined) return fault;
  const [path = ''] = url.split('?');
  if (method !== 'PUT' || !path.startsWith(`/${bucket}/`)) return `${method} ${path}`;
  if (Number(headers['content-length']) !== body.length) return 'the length is wrong';
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  if (headers['x-amz-checksum-crc32'] !== sum.toString('base64')) return 'the checksum is missing or wrong';
  if (headers['content-type'] !== 'application/x-ndjson' || headers['content-encoding'] !== 'gzip')
    return `the type is ${headers['content-type']}, ${headers['content-encoding']}`;
  const lines = gunzipSync(body).toString('utf8');
  if (!lines.endsWith('\n')) return 'the last line has no end';
  const events = lines
    .trimEnd()
    .split('\n')
    .map((line): JsonObject => JSON.parse(line));
  return { key: decodeURIComponent(path.slice(bucket.length + 2)), body, events };
}

/** Records of one request, with their events. */
export interface PutRecords {
  readonly events: readonly JsonObject[];
  readonly bytes: number;
}

/** Selects, by position, the records that Firehose reports as failed. */
type Failing = (records: PutRecords) => ReadonlySet<number>;

/** A Firehose delivery stream. */
export interface Stream extends Counterpart<PutRecords> {
  /** Events that were accepted, in order. */
  readonly taken: readonly JsonObject[];
  /** Makes Firehose accept the next request except for the records that `failing` selects. */
  failNext(failing: Failing): void;
}

/**
 * Starts a Firehose server with one stream that checks the rules that the Firehose documentation sets for
 * PutRecordBatch.
 */
export async function startStream(name: string): Promise<Stream> {
  const taken: JsonObject[] = [];
  const failing: Failing[] = [];
  const counterpart = await startCounterpart<PutRecords>({
    read: (arrived) => readRecords(arrived, name),
    accept(response, message) {
      const failed = failing.shift()?.(message) ?? new Set();
      taken.push(...message.events.filter((_, at) => !failed.has(at)));
      const RequestResponses = message.events.map((_, at) =>
        failed.has(at)
          ? { ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' }
          : { RecordId: `record-${at}` },
      );
      sendJson(response, 200, { Encrypted: false, FailedPutCount: failed.size, RequestResponses });
    },
    refuse: (response, status) =>
      status < 500
        ? response.writeHead(status).end()
        : sendJson(response, status, { __type: 'ServiceUnavailableException' }),
  });
  return { ...counterpart, taken, failNext: (one) => void failing.push(one) };
}

/** Returns an error answer of Firehose. */
export function firehoseError(status: number, type: string): Answer {
  return (response) => sendJson(response, status, { __type: `com.amazonaws.firehose#${type}`, message: type });
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
}

function readRecords(arrived: Arrived, stream: string): PutRecords | string {
  const { request, body } = arrived;
  const { headers, method, url } = request;
  const fault = signatureFault(arrived, { ...signer, service: 'firehose' });
  if (fault !== undefined) return fault;
  if (method !== 'POST' || url !== '/') return `${method} ${url}`;
  if (headers['content-type'] !== 'application/x-amz-json-1.1') return `the type is ${headers['content-type']}`;
  if (headers['x-amz-target'] !== 'Firehose_20150804.PutRecordBatch') return `the target is ${headers['x-amz-target']}`;
  const { DeliveryStreamName, Records } = JSON.parse(body.toString('utf8'));
  if (DeliveryStreamName !== stream) return `the stream is ${DeliveryStreamName}`;
  const records: readonly Buffer[] = Records.map(({ Data }: { readonly Data: string }) => Buffer.from(Data, 'base64'));
  const bytes = records.reduce((sum, { length }) => sum + length, 0);
  if (records.length === 0 || records.length > 500) return `${records.length} records`;
  if (bytes > 4 * 1024 * 1024 || records.some(({ length }) => length > 1000 * 1024)) return 'records are too large';
  const texts = records.map((record) => record.toString('utf8'));
  if (texts.some((text) => !/^[^\n]+\n$/.test(text))) return 'a record is not one line';
  return { events: texts.map((text): JsonObject => JSON.parse(text)), bytes };
}
