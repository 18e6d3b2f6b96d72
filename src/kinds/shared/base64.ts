import type { Format } from '../../model/schema/format.ts';

const padded = /^(?:[\dA-Za-z+/]{4})*(?:[\dA-Za-z+/]{2}==|[\dA-Za-z+/]{3}=)?$/;

/** Text in standard Base64 with padding. The fault does not repeat the text: it may be a secret. */
export const base64: Format = {
  name: 'base64',
  canonical: (text) =>
    padded.test(text) ? { value: text } : { fault: 'this is not Base64; encode the value, padding included' },
};
