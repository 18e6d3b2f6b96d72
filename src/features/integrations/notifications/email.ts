import type { MailTransport } from '../../../outbound/mail.ts';
import { MailFailure } from '../../../outbound/mail-failure.ts';
import type { Channel, DeliveryEvent, DeliveryTarget, Verdict } from '../deliveries/target.ts';
import { type MailFrame, notificationMail } from './mail-text.ts';

/** Options of sending mails. */
export interface EmailOptions {
  /** Absent: no mail server is configured. */
  readonly mail?: { readonly transport: Pick<MailTransport, 'send'>; readonly from: string } | undefined;
  /** Address at which people reach the server. Absent: it is not configured. */
  readonly publicUrl?: string | undefined;
}

/** Maximum number of waiting events that are mailed one by one. More events are listed in one mail. */
const maxSingleMails = 20;

/** Opens a target that mails events: one mail per event, or one list of them when many wait. */
export function openEmail({ account, id, settings = {} }: Channel, { mail, publicUrl }: EmailOptions): DeliveryTarget {
  const { emails } = settings;
  const frame: MailFrame = {
    ...{ account, channel: id, to: Array.isArray(emails) ? emails.map(String) : [] },
    host: /@([^\s<>@]+)>?\s*$/.exec(mail?.from ?? '')?.[1] ?? 'localhost',
    settingsUrl: publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, '')}/#notifications`,
  };
  return {
    chooseBatchSize: (waiting) => (waiting.length > maxSingleMails ? waiting.length : 1),
    deliver: async (batch) => (mail === undefined ? noMailServerVerdict : send(mail.transport, frame, batch)),
  };
}

const noMailServerVerdict: Verdict = {
  outcome: 'pause',
  reason: 'this server has no mail server; its operator can configure one with HEDDLE_SMTP_URL and HEDDLE_MAIL_FROM',
};

async function send(
  transport: Pick<MailTransport, 'send'>,
  frame: MailFrame,
  batch: readonly DeliveryEvent[],
): Promise<Verdict> {
  try {
    const refused = await transport.send(notificationMail(frame, batch));
    if (refused.length === 0) return { outcome: 'accepted' };
    return {
      outcome: 'accepted',
      note: `the mail server rejects ${refused.join(', ')}; the other addresses received the mail`,
    };
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error;
    return verdictOf(error);
  }
}

function verdictOf({ refusal, message: reason }: MailFailure): Verdict {
  switch (refusal) {
    case 'away':
    case 'insecure':
      return { outcome: 'retry', reason };
    case 'content':
      return { outcome: 'refused', reason };
    case 'addresses':
      return { outcome: 'pause', reason: `${reason}; correct them` };
    case 'credentials':
      return { outcome: 'pause', reason: `${reason}; the operator of this server must correct them` };
  }
}
