/**
 * Reason why a mail was not accepted: the mail server refuses all addresses, the credentials of this server, or the
 * content; the connection is not secure; or the mail server cannot accept mail at the moment (`away`).
 */
export type MailRefusal = 'addresses' | 'credentials' | 'content' | 'insecure' | 'away';

/** A mail that the mail server did not accept. The message contains no mail address and no secret. */
export class MailFailure extends Error {
  readonly refusal: MailRefusal;

  constructor(refusal: MailRefusal, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MailFailure';
    this.refusal = refusal;
  }
}
