/** Registered authentication schemes of HTTP, and those that services for notifications use besides. */
const schemes = [
  ...['Basic', 'Bearer', 'Concealed', 'Digest', 'DPoP', 'GNAP', 'HOBA', 'Mutual', 'Negotiate', 'OAuth', 'PrivateToken'],
  ...['SCRAM-SHA-1', 'SCRAM-SHA-256', 'vapid', 'ApiKey', 'Api-Key', 'GenieKey', 'Key', 'Splunk', 'Token'],
].map((scheme) => scheme.toLowerCase());

/**
 * The authentication scheme with which the value of a header begins, and the space behind it; empty when there is none. Any
 * other first word may be part of the secret.
 */
export function schemeOf(value: string): string {
  const [, scheme = ''] = /^([\w-]{3,20}) +\S/.exec(value) ?? [];
  return schemes.includes(scheme.toLowerCase()) ? `${scheme} ` : '';
}
