import { nearest } from '../../lib/nearest.ts';
import { type Fault, type Kind, statesOnly } from '../../model/declare/kind.ts';
import type { PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { isOwnAnnotation, previousNamesAnnotation } from '../../model/document.ts';
import { isSecretName } from '../../model/schema/values.ts';
import { membershipModes } from '../../model/sources/settings.ts';
import { membershipFields } from '../../model/state/members.ts';
import { renewBeforeAnnotation } from './renewal.ts';

/** Links a document to an object which no source manages yet: `id:<id>`. */
export const adoptAnnotation = 'heddle.dev/adopt';

/** Protects an object from deletion by sources: `true` or `false`. */
export const protectAnnotation = 'heddle.dev/prevent-delete';

/** What becomes of the object when its document goes: `prune` or `release`. */
export const releaseAnnotation = 'heddle.dev/on-release';

/** Whose elements a membership holds: `additive` or `exclusive`. */
export const membershipAnnotation = 'heddle.dev/membership';

/** Names the Secret beside a resource that what is made for its object goes to. */
export const outputSecretAnnotation = 'heddle.dev/output-secret';

/** The annotations that mean something, with the values that they may have; none for free texts. */
const known: Readonly<Record<string, readonly string[] | undefined>> = {
  [adoptAnnotation]: undefined,
  [previousNamesAnnotation]: undefined,
  [protectAnnotation]: ['true', 'false'],
  [releaseAnnotation]: ['prune', 'release'],
  [membershipAnnotation]: membershipModes,
  [outputSecretAnnotation]: undefined,
  [renewBeforeAnnotation]: undefined,
};

/** What is wrong with the annotations of a document; those of others may say anything. */
export function annotationFaults(
  kind: Kind,
  annotations: Readonly<Record<string, string>>,
  environment: Pick<PlanEnvironment, 'outputSecretFault'>,
): readonly Fault[] {
  return Object.entries(annotations).flatMap(([name, value]) => {
    const message = isOwnAnnotation(name)
      ? (faultOf(kind, name, value) ?? outputFaultOf(kind, name, value, environment))
      : undefined;
    return message === undefined ? [] : [{ code: 'annotation_invalid', path: '', message }];
  });
}

function faultOf(kind: Kind, name: string, value: string): string | undefined {
  if (!(name in known)) {
    const guess = nearest(name, Object.keys(known));
    const hint = guess === undefined ? `known are ${Object.keys(known).join(', ')}` : `did you mean \`${guess}\`?`;
    return `unknown annotation \`${name}\`; ${hint}`;
  }
  const values = known[name];
  if (values !== undefined && !values.includes(value))
    return `\`${name}\` is \`${value}\`; write ${values.map((text) => `"${text}"`).join(' or ')}`;
  if (name === releaseAnnotation && value === 'prune' && !isPrunable(kind))
    return `documents do not delete objects of kind ${kind.name}; leave \`${name}\` out`;
  const isMembership = name === membershipAnnotation;
  if (isMembership && membershipFields(kind.spec).length === 0)
    return `${kind.name} has no members; remove \`${name}\``;
  return undefined;
}

function outputFaultOf(
  kind: Kind,
  name: string,
  value: string,
  { outputSecretFault }: Pick<PlanEnvironment, 'outputSecretFault'>,
): string | undefined {
  if (name !== outputSecretAnnotation) return undefined;
  if (kind.outputs === undefined)
    return `nothing is made for a ${kind.name} that a Secret could hold; take \`${name}\` out`;
  if (!isSecretName(value))
    return `\`${name}\` is \`${value}\`, which no Secret can be called; write lower-case letters, digits, dots and dashes`;
  return outputSecretFault === undefined ? undefined : `\`${name}\` cannot be followed: ${outputSecretFault}`;
}

/** Whether an object of the kind can go because its document went. */
export function isPrunable(kind: Kind): boolean {
  return kind.singleton === undefined && !statesOnly(kind);
}
