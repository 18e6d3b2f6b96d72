/** Maximum length of one quote from the input in a message, in characters. */
const maxQuoteLength = 200;

/**
 * Maximum length between the first and the last backtick of a message, in characters: the quotes and the words between
 * them.
 */
const maxQuotedSpan = 600;

/** Maximum length of a message, in characters. A problem needs a sentence or two, and some names to choose from. */
const maxMessageLength = 4000;

/**
 * Shortens the quotes between backticks in a message. Input may contain backticks itself, so any text between the first
 * and the last backtick may come from the input. Reads each character only a few times.
 */
export function shortenMessage(message: string): string {
  if (message.length <= maxQuoteLength) return message;
  const [begin, end] = [message.indexOf('`') + 1, message.lastIndexOf('`')];
  const cut =
    end < begin ? message : message.slice(0, begin) + shortenQuotes(message.slice(begin, end)) + message.slice(end);
  return cut.length <= maxMessageLength ? cut : `${cut.slice(0, maxMessageLength)}… (${cut.length} characters)`;
}

/** Shortens the quotes in a text, and the whole text if it remains too long. */
function shortenQuotes(text: string): string {
  const cut = text.split('`').map(shortenQuote).join('`');
  return cut.length <= maxQuotedSpan ? cut : shortenQuote(text);
}

/** Returns the start of a quote and its full length. */
function shortenQuote(text: string): string {
  return text.length <= maxQuoteLength ? text : `${text.slice(0, maxQuoteLength)}… (${text.length} characters)`;
}
