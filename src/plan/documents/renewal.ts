import { parseDuration } from '../../lib/duration.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';

/**
 * Annotation that sets how long before their end the generated values of an object are replaced: a duration such as
 * `72h`.
 */
export const renewBeforeAnnotation = 'heddle.dev/renew-before';

type Annotations = Readonly<Record<string, string>>;

/** Shortest allowed time, in seconds. It leaves time to notice the coming end, and to distribute the new value. */
const minRenewSeconds = 60 * 60;

/** Returns the faults of the `renewBeforeAnnotation` of a document. Empty when the annotation is absent or valid. */
export function renewalFaults(kind: Kind, annotations: Annotations, spec: JsonObject): readonly Fault[] {
  const text = annotations[renewBeforeAnnotation];
  if (text === undefined) return [];
  const fault = (message: string): readonly Fault[] => [{ code: 'annotation_invalid', path: '', message }];
  if (kind.renewal === undefined)
    return fault(`values that are generated for a ${kind.name} do not expire; remove \`${renewBeforeAnnotation}\``);
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds < minRenewSeconds)
    return fault(`\`${renewBeforeAnnotation}\` is \`${text}\`; write a duration of at least an hour, such as \`72h\``);
  const lifetime = kind.renewal.lifetime(spec);
  if (lifetime === undefined || seconds <= lifetime - minRenewSeconds) return [];
  const most = `${Math.floor(lifetime / 3600) - 1}h`;
  return fault(
    `\`${renewBeforeAnnotation}\` is \`${text}\`, and the generated values are valid for ${lifetime / 3600}h; write at most \`${most}\``,
  );
}

/** Whether the document asks for renewal, and the object has generated values that expire. */
export function isRenewable(kind: Kind, annotations: Annotations, object: StoredObject): boolean {
  return annotations[renewBeforeAnnotation] !== undefined && kind.renewal?.expires(object) !== undefined;
}

/** Whether the generated values of an object must be replaced now, as the annotation of its document sets it. */
export function isRenewalDue(kind: Kind, annotations: Annotations, object: StoredObject, now: string): boolean {
  const seconds = parseDuration(annotations[renewBeforeAnnotation] ?? '');
  const expires = kind.renewal?.expires(object);
  if (seconds === undefined || expires === undefined) return false;
  return Date.parse(now) >= Date.parse(expires) - seconds * 1000;
}
