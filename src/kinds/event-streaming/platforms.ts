import { isObject, parseJson } from '../../lib/json.ts';
import { nearest } from '../../lib/nearest.ts';
import { parseEventTemplate } from '../../model/declare/event-template.ts';
import { type Field, maxLengths, secret } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import { headerNameFault } from '../shared/header-names.ts';
import { webUrl } from '../shared/web-url.ts';

type Config = Readonly<Record<string, string>>;

/** Returns what is wrong with a value, or `undefined` when it is valid. */
type ValueCheck = (value: string, config: Config) => string | undefined;

/** Keys that the configuration of a platform may have. */
export interface Platform {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /**
   * Checks of values, by key. The keys of `secretFields` have none, because their values are sealed by then: their
   * fields check them.
   */
  readonly valueChecks: Readonly<Record<string, ValueCheck>>;
}

/** Supported platforms for event streaming, with the keys of their configuration. */
export const platforms: Readonly<Record<'datadog' | 's3' | 'firehose' | 'generic_http', Platform>> = {
  datadog: {
    required: ['api_key'],
    optional: ['site', 'region', 'api_url'],
    valueChecks: {
      site: createPatternCheck(
        /^[a-z0-9-]+(\.[a-z0-9-]+)+$/,
        'is not a site of Datadog; write one such as datadoghq.eu',
      ),
      region: checkDatadogRegion,
    },
  },
  s3: {
    required: ['access_key_id', 'secret_access_key', 'bucket_name', 'region'],
    optional: ['prefix', 'endpoint'],
    valueChecks: {
      bucket_name: createPatternCheck(
        /^[\w.-]{1,255}$/,
        'is not the name of a bucket; write it without a path or an address',
      ),
      region: checkRegion,
      prefix: checkPrefix,
      endpoint: checkUrl,
    },
  },
  firehose: {
    required: ['access_key_id', 'secret_access_key', 'stream_name', 'region'],
    optional: ['endpoint'],
    valueChecks: {
      stream_name: createPatternCheck(/^[\w.-]{1,64}$/, 'is not the name of a stream; write it without an ARN'),
      region: checkRegion,
      endpoint: checkUrl,
    },
  },
  generic_http: {
    required: ['url'],
    optional: ['headers', 'body_template', 'batch'],
    valueChecks: {
      body_template: checkTemplate,
      batch: createPatternCheck(/^([1-9]\d{0,2}|1000)$/, 'is not a valid batch size; write a number from 1 to 1000'),
    },
  },
};

function createPatternCheck(pattern: RegExp, hint: string): (value: string) => string | undefined {
  return (value) => (pattern.test(value) ? undefined : `\`${value.slice(0, 100)}\` ${hint}`);
}

const datadogRegions: readonly string[] = ['us', 'us1', 'us3', 'us5', 'eu', 'eu1', 'ap1', 'ap2', 'uk1', 'gov'];

/** The region only matters when neither `site` nor `api_url` is set. */
function checkDatadogRegion(value: string, { site, api_url }: Config): string | undefined {
  if (datadogRegions.includes(value) || site !== undefined || api_url !== undefined) return undefined;
  const guess = nearest(value, datadogRegions);
  const hint = guess === undefined ? `known are ${datadogRegions.join(', ')}` : `did you mean \`${guess}\`?`;
  return `Datadog has no region \`${value.slice(0, 100)}\`; ${hint}`;
}

/** Checks a region. It becomes part of a host name. */
function checkRegion(value: string): string | undefined {
  return createPatternCheck(/^[a-z0-9]([a-z0-9-]{0,62})$/, 'is not a region; write one such as eu-central-1')(value);
}

const maxPrefixLength = 512;

function checkPrefix(value: string): string | undefined {
  if (value.length > maxPrefixLength) return `a prefix must have at most ${maxPrefixLength} characters`;
  const isPath = /^[\w!'()*.=-]+(\/[\w!'()*.=-]+)*\/?$/.test(value) && !/(^|\/)\.{1,2}(\/|$)/.test(value);
  return isPath
    ? undefined
    : `\`${value.slice(0, 100)}\` is not a valid prefix; write names with \`/\` between them, such as heddle/events`;
}

function checkUrl(value: string): string | undefined {
  const result = webUrl.canonical(value);
  return 'fault' in result ? result.fault : undefined;
}

function checkTemplate(value: string): string | undefined {
  // The field refuses it.
  if (value.length > maxTextLength) return undefined;
  const template = parseEventTemplate(value);
  return 'fault' in template ? `\`body_template\` is not a valid template: ${template.fault}` : undefined;
}

/** Maximum length of a setting that is a text. */
export const maxTextLength = 4 * maxLengths.text;

/** Alternative spellings of keys, each with the spelling that is stored. */
export const keyAliases: Readonly<Record<string, string>> = {
  access_key: 'access_key_id',
  secret_key: 'secret_access_key',
};

const credential = secret({ doc: 'A credential. It is shown masked.', read: 'masked' });

/** Headers by name, as a JSON object. */
const headersFormat: Format = {
  name: 'headers',
  canonical(text) {
    const headers = readObject(text);
    if (headers === undefined)
      return { fault: 'headers must be a JSON object of texts, such as {"Authorization":"Bearer …"}' };
    const fault = Object.keys(headers)
      .map((name) => headerNameFault(name))
      .find((found) => found !== undefined);
    return fault === undefined ? { value: text } : { fault };
  },
};

/** Parses a JSON object whose members are all strings. Returns `undefined` for any other text. */
function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) && Object.values(value).every((one) => typeof one === 'string') ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Headers often contain credentials. */
const headers = secret({
  doc: 'Headers by name, as JSON. They are shown masked.',
  read: 'masked',
  format: headersFormat,
  acceptsObject: true,
});

/** Many platforms let anyone write who knows the address. */
const address = secret({ doc: 'A web address.', read: 'shown', maxLength: maxTextLength, format: webUrl });

/** Keys whose values are stored sealed. */
export const secretFields: Readonly<Record<string, Field<string | undefined>>> = {
  api_key: credential,
  access_key_id: credential,
  access_key: credential,
  secret_access_key: credential,
  secret_key: credential,
  headers,
  url: address,
  api_url: address,
};
