/** How much of the input a message repeats. */
const mostQuoted = 200;

/** How long a whole message may be: what is wrong is said in a sentence or two, with names to choose from. */
const mostCharacters = 4000;

/** A message for people: what it quotes between backticks is cut to its beginning. Each character is looked at once. */
export function shortMessage(message: string): string {
  if (message.length <= mostQuoted) return message;
  const parts = message.split('`');
  const cut = parts.map((part, at) => (at % 2 === 1 ? shortQuote(part) : part)).join('`');
  return cut.length <= mostCharacters ? cut : `${cut.slice(0, mostCharacters)}… (${cut.length} characters)`;
}

/** The beginning of a text of the input, and how long it is. */
function shortQuote(text: string): string {
  return text.length <= mostQuoted ? text : `${text.slice(0, mostQuoted)}… (${text.length} characters)`;
}
