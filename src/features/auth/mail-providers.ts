/** Domains whose addresses anybody can have: they are no organisation's own. */
const providers: ReadonlySet<string> = new Set([
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'outlook.de', 'outlook.fr', 'hotmail.com', 'hotmail.co.uk'],
  ...['hotmail.fr', 'hotmail.de', 'hotmail.it', 'hotmail.es', 'live.com', 'live.nl', 'msn.com', 'passport.com'],
  ...['yahoo.com', 'yahoo.co.uk', 'yahoo.co.in', 'yahoo.co.jp', 'yahoo.fr', 'yahoo.de', 'yahoo.es', 'yahoo.it'],
  ...['ymail.com', 'rocketmail.com', 'aol.com', 'icloud.com', 'me.com', 'mac.com', 'proton.me', 'protonmail.com'],
  ...['protonmail.ch', 'pm.me', 'tutanota.com', 'tutanota.de', 'tuta.io', 'tuta.com', 'gmx.com', 'gmx.de', 'gmx.net'],
  ...['gmx.at', 'gmx.ch', 'web.de', 't-online.de', 'freenet.de', 'posteo.de', 'posteo.net', 'mailbox.org', 'mail.com'],
  ...['mail.ru', 'inbox.ru', 'list.ru', 'bk.ru', 'yandex.ru', 'yandex.com', 'rambler.ru', 'ukr.net', 'seznam.cz'],
  ...['wp.pl', 'o2.pl', 'onet.pl', 'interia.pl', 'orange.fr', 'wanadoo.fr', 'free.fr', 'laposte.net', 'sfr.fr'],
  ...['libero.it', 'virgilio.it', 'tin.it', 'alice.it', 'ziggo.nl', 'kpnmail.nl', 'telenet.be', 'skynet.be'],
  ...['comcast.net', 'verizon.net', 'att.net', 'sbcglobal.net', 'bellsouth.net', 'cox.net', 'btinternet.com'],
  ...['qq.com', '163.com', '126.com', 'sina.com', 'sohu.com', 'foxmail.com', 'naver.com', 'daum.net', 'hanmail.net'],
  ...['rediffmail.com', 'zoho.com', 'zohomail.com', 'fastmail.com', 'fastmail.fm', 'hey.com', 'hushmail.com'],
  ...['uol.com.br', 'bol.com.br', 'terra.com.br', 'mailinator.com', 'yopmail.com', 'guerrillamail.com'],
]);

/** Whether a domain belongs to a mail provider. */
export function isMailProvider(domain: string): boolean {
  return providers.has(domain);
}
