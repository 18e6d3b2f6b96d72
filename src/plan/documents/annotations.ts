import { nearest } from '../../lib/nearest.ts';
import { canOnlyStateExisting, type Fault, type Kind } from '../../model/declare/kind.ts';
import type { PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { isOwnAnnotation, previousNamesAnnotation } from '../../model/document.ts';
import { isSecretName } from '../../model/schema/values.ts';
import { membershipModes } from '../../model/sources/settings.ts';
import { membershipFields } from '../../model/state/members.ts';
import { renewBeforeAnnotation } from './renewal.ts';

/** Annotation that links a document to an unmanaged object: `id:<id>`. */
export const adoptAnnotation = 'heddle.dev/adopt';

/** Annotation that protects an object from deletion by sources: `true` or `false`. */
export const protectAnnotation = 'heddle.dev/prevent-delete';

/** Annotation for the object when its document is removed: `prune` deletes it, `release` keeps it. */
export const releaseAnnotation = 'heddle.dev/on-release';

/** Annotation for the membership mode of an object: `additive` or `exclusive`. */
export const membershipAnnotation = 'heddle.dev/membership';

/**
 * Annotation that names the Secret, in the namespace of the resource, to which generated values of the object are
 * written.
 */
export const outputSecretAnnotation = 'heddle.dev/output-secret';

/** Known annotations with their allowed values; `undefined` for free text. */
const allowedValues: Readonly<Record<string, readonly string[] | undefined>> = {
  [adoptAnnotation]: undefined,
  [previousNamesAnnotation]: undefined,
  [protectAnnotation]: ['true', 'false'],
  [releaseAnnotation]: ['prune', 'release'],
  [membershipAnnotation]: membershipModes,
  [outputSecretAnnotation]: undefined,
  [renewBeforeAnnotation]: undefined,
};

/** Returns the faults of a document's annotations. Annotations of other systems are not checked. */
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
  if (!(name in allowedValues)) {
    const guess = nearest(name, Object.keys(allowedValues));
    const hint =
      guess === undefined ? `known are ${Object.keys(allowedValues).join(', ')}` : `did you mean \`${guess}\`?`;
    return `unknown annotation \`${name}\`; ${hint}`;
  }
  const values = allowedValues[name];
  if (values !== undefined && !values.includes(value))
    return `\`${name}\` is \`${value}\`; write ${values.map((text) => `"${text}"`).join(' or ')}`;
  if (name === releaseAnnotation && value === 'prune' && !isPrunable(kind))
    return `documents do not delete objects of kind ${kind.name}; remove \`${name}\``;
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
    return `no value that a Secret could hold is generated for a ${kind.name}; remove \`${name}\``;
  if (!isSecretName(value))
    return `\`${name}\` is \`${value}\`, which is not a valid name of a Secret; write lower-case letters, digits, dots and dashes`;
  return outputSecretFault === undefined ? undefined : `\`${name}\` cannot be applied: ${outputSecretFault}`;
}

/** Whether an object of the kind is deleted when its document is removed. */
export function isPrunable(kind: Kind): boolean {
  return kind.singleton === undefined && !canOnlyStateExisting(kind);
}
