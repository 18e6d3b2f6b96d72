/** How much of the input a message repeats. */
const mostQuoted = 200;

/** How much there may be between the first and the last backtick of a message: its quotes, and the words that connect them. */
const mostBetween = 600;

/** How long a whole message may be: what is wrong is said in a sentence or two, with names to choose from. */
const mostCharacters = 4000;

/**
 * A message for people: what it quotes between backticks is cut to its beginning. Input may hold backticks itself, so that
 * nothing between the first and the last one is known to be ours. Each character is looked at a few times at most.
 */
export function shortMessage(message: string): string {
  if (message.length <= mostQuoted) return message;
  const [begin, end] = [message.indexOf('`') + 1, message.lastIndexOf('`')];
  const cut =
    end < begin ? message : message.slice(0, begin) + shortQuotes(message.slice(begin, end)) + message.slice(end);
  return cut.length <= mostCharacters ? cut : `${cut.slice(0, mostCharacters)}… (${cut.length} characters)`;
}

/** Quotes with the words between them. */
function shortQuotes(text: string): string {
  const cut = text.split('`').map(shortQuote).join('`');
  return cut.length <= mostBetween ? cut : shortQuote(text);
}

/** The beginning of a text of the input, and how long it is. */
function shortQuote(text: string): string {
  return text.length <= mostQuoted ? text : `${text.slice(0, mostQuoted)}… (${text.length} characters)`;
}
