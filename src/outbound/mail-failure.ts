/**
 * Why the mail server did not take a mail: it refuses all addresses, the credentials of this server, or what is in the mail;
 * the way to it is not secure; or it cannot take it now.
 */
export type MailRefusal = 'addresses' | 'credentials' | 'content' | 'insecure' | 'away';

/** A mail was not taken. The message names no address and no secret. */
export class MailFailure extends Error {
  readonly refusal: MailRefusal;

  constructor(refusal: MailRefusal, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MailFailure';
    this.refusal = refusal;
  }
}
