const mostCharacters = 100;

/** A text of the user inside a message: cut when it is long, so that no input makes messages of megabytes. */
export function truncate(text: string, most: number = mostCharacters): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
