import { type Field, longest, secret } from '../../model/schema/field.ts';
import { webUrl } from '../shared/web-url.ts';

/** What the configuration of one platform may say. */
export interface Platform {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** The platforms to which events can be sent, with the keys of their configuration. */
export const platforms: Readonly<Record<'datadog' | 's3' | 'firehose' | 'generic_http', Platform>> = {
  datadog: { required: ['api_key'], optional: ['site', 'region', 'api_url'] },
  s3: { required: ['access_key_id', 'secret_access_key', 'bucket_name', 'region'], optional: [] },
  firehose: { required: ['access_key_id', 'secret_access_key', 'stream_name', 'region'], optional: [] },
  generic_http: { required: ['url'], optional: ['headers', 'body_template'] },
};

/** Other spellings of keys; the value of one is the spelling that is kept. */
export const otherSpellings: Readonly<Record<string, string>> = {
  access_key: 'access_key_id',
  secret_key: 'secret_access_key',
};

const credential = secret({ doc: 'A credential. It is shown masked.', read: 'masked' });

/** Many platforms let everyone write who knows such an address. */
const address = secret({ doc: 'An address of the web.', read: 'shown', maxLength: 4 * longest.text, format: webUrl });

/** Keys whose values are kept sealed. Headers carry credentials as often as not. */
export const secrets: Readonly<Record<string, Field<string | undefined>>> = {
  api_key: credential,
  access_key_id: credential,
  access_key: credential,
  secret_access_key: credential,
  secret_key: credential,
  headers: credential,
  url: address,
  api_url: address,
};
