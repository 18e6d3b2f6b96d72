import type { Fault } from '../../model/declare/kind.ts';
import { headerNameFault } from '../shared/header-names.ts';

interface ChannelTarget {
  readonly emails: readonly string[];
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface ChannelSpec {
  readonly type: 'email' | 'webhook';
  readonly target: ChannelTarget | undefined;
}

/** Removes an empty target, which counts as no target. */
export function withoutEmptyTarget<S extends object>(spec: S): S {
  const { target, ...rest } = spec as S & { readonly target?: Partial<ChannelTarget> };
  if (target === undefined || !isEmptyTarget(target)) return spec;
  // `rest` has every other member of the type. `target` may be absent.
  return rest as S;
}

function isEmptyTarget({ emails = [], url, headers = {} }: Partial<ChannelTarget>): boolean {
  return emails.length === 0 && url === undefined && Object.keys(headers).length === 0;
}

/** Checks that a target has the members that its type needs, and none of the other type. */
export function checkTarget({ type, target }: ChannelSpec): readonly Fault[] {
  if (target === undefined) return [];
  return type === 'email'
    ? checkEmail(target)
    : [...checkWebhook(target), ...Object.keys(target.headers).flatMap(checkHeader)];
}

function checkEmail({ emails, url, headers }: ChannelTarget): readonly Fault[] {
  return [
    ...(emails.length === 0 ? [missingMemberFault('emails', 'email')] : []),
    ...(url === undefined ? [] : [inapplicableMemberFault('url', 'email')]),
    ...(Object.keys(headers).length === 0 ? [] : [inapplicableMemberFault('headers', 'email')]),
  ];
}

function checkWebhook({ emails, url }: ChannelTarget): readonly Fault[] {
  return [
    ...(url === undefined ? [missingMemberFault('url', 'webhook')] : []),
    ...(emails.length === 0 ? [] : [inapplicableMemberFault('emails', 'webhook')]),
  ];
}

/** Headers of the signature, which the server sets itself. */
const signatureHeaders = /^webhook-/i;

function checkHeader(name: string): readonly Fault[] {
  const fault = headerNameFault(name, signatureHeaders);
  return fault === undefined ? [] : [headerFault(fault)];
}

function headerFault(message: string): Fault {
  return { code: 'channel_header_invalid', path: '/target/headers', message };
}

function missingMemberFault(member: string, type: string): Fault {
  const message = `the target of the type \`${type}\` needs \`${member}\`; add it`;
  return { code: 'channel_target_incomplete', path: '/target', message };
}

function inapplicableMemberFault(member: string, type: string): Fault {
  const message = `\`${member}\` does not apply to the type \`${type}\`; remove it`;
  return { code: 'channel_target_mixed', path: `/target/${member}`, message };
}
