/** Maximum length of one quote from the input in a message, in characters. */
const maxQuoteLength = 200;

/**
 * Maximum length between the first and the last backtick of a message, in characters: the quotes and the words between
 * them.
 */
const maxQuotedSpan = 600;

/** Maximum length of an absolute path that a message contains in full, in characters. */
const maxPathLength = 1024;

/** Maximum length of a message, in characters. A problem needs a sentence or two, and some names to choose from. */
const maxMessageLength = 4000;

/** A word that is longer than a shortened quote with its backticks: it comes from the input. */
const longWord = /\S{210,}/g;

/**
 * Shortens the quotes between backticks in a message, and other long words. Input may contain backticks itself, so any
 * text between the first and the last backtick may come from the input. Reads each character only a few times.
 */
export function shortenMessage(message: string): string {
  if (message.length <= maxQuoteLength) return message;
  const [begin, end] = [message.indexOf('`') + 1, message.lastIndexOf('`')];
  const cut =
    end < begin ? message : message.slice(0, begin) + shortenQuotes(message.slice(begin, end)) + message.slice(end);
  const short = cut.replace(longWord, shortenWord);
  return cutText(short, maxMessageLength);
}

/** Start of an absolute path, which may be in quotes or parentheses. */
const absolutePath = /^["'(]*\//;

/** Shortens a long word. The path of a file of the server is of use only if it is complete. */
function shortenWord(word: string): string {
  const isPath = absolutePath.test(word) && word.length <= maxPathLength;
  return isPath ? word.split('/').map(shortenQuote).join('/') : shortenQuote(word);
}

/** Names before `not found`, which are not always quoted. The first word is the kind of the object. */
const missingName = /^(\S+ )(.{201,})( not found)/s;

/** Shortens the name in the message about an object that does not exist. */
export function shortenMissing(message: string): string {
  return message.replace(missingName, (_, kind: string, name: string, end: string) => kind + shortenQuote(name) + end);
}

/** Maximum length of a JSON pointer in a problem, in characters. */
const maxPointerLength = 1000;

/**
 * Shortens the names of members in a JSON pointer, which come from the input, and the pointer if it remains too long.
 */
export function shortenPointer(pointer: string): string {
  if (pointer.length <= maxQuoteLength) return pointer;
  const cut = pointer.split('/').map(shortenQuote).join('/');
  return cutText(cut, maxPointerLength, pointer.length);
}

/** Shortens the quotes in a text, and the whole text if it remains too long. */
function shortenQuotes(text: string): string {
  const cut = text.split('`').map(shortenQuote).join('`');
  return cut.length <= maxQuotedSpan ? cut : shortenQuote(text);
}

/** Returns the start of a quote and its full length. */
export function shortenQuote(text: string): string {
  return cutText(text, maxQuoteLength);
}

/** End of a text that was cut. */
const cutEnd = /^… \(\d{1,12} characters\)$/;

/** Returns the start of a text and its full length. Keeps a text that was cut before, with the length that it states. */
function cutText(text: string, most: number, length = text.length): string {
  if (text.length <= most || cutEnd.test(text.slice(most))) return text;
  return `${text.slice(0, most)}… (${length} characters)`;
}
