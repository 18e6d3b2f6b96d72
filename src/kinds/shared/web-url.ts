import type { Format } from '../../model/schema/format.ts';

/** HTTP or HTTPS URL, kept as it was written. Credentials in it are refused, because readers see it. */
export const webUrl: Format = {
  name: 'url',
  pattern: '[Hh][Tt][Tt][Pp][Ss]?://[^ ]+',
  canonical(text) {
    // The parser drops tabs and line breaks, and treats backslashes as slashes. Here a URL must mean what it looks
    // like.
    // `URL.canParse` accepts some long texts that the parser refuses.
    const url = /^https?:\/\/[^\s\\]+$/i.test(text) ? URL.parse(text) : null;
    if (url === null) return { fault: 'this is not a web address; write one such as https://hooks.example.com/mesh' };
    if (url.username !== '' || url.password !== '')
      return {
        fault: 'a web address must not contain credentials; put them into a field for secrets, such as a header',
      };
    return { value: text };
  },
};
