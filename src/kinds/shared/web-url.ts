import type { Format } from '../../model/schema/field.ts';

/** An address of the web, http or https, as it was written. Credentials do not belong into it: it is shown to readers. */
export const webUrl: Format = {
  name: 'url',
  pattern: '[Hh][Tt][Tt][Pp][Ss]?://[^ ]+',
  canonical(text) {
    // The parser drops tabs and line breaks, and takes backslashes for slashes; here an address is what it looks like.
    const url = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined)
      return { fault: 'this is not a web address; write one such as https://hooks.example.com/mesh' };
    if (url.username !== '' || url.password !== '')
      return { fault: 'a web address must not carry credentials; put them where secrets belong, such as a header' };
    return { value: text };
  },
};
