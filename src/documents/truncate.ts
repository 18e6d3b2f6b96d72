const maxCharacters = 100;

/**
 * Shortens a text of the user for use in a message, so that no input makes messages of megabytes. `most` is in
 * characters.
 */
export function truncate(text: string, most: number = maxCharacters): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
