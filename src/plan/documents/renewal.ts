import { parseDuration } from '../../lib/duration.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';

/** How long before it ends what was made for an object is replaced: a time such as `72h`. */
export const renewBeforeAnnotation = 'heddle.dev/renew-before';

type Annotations = Readonly<Record<string, string>>;

/** At least so long it takes to notice, and to bring the new value where the old one was. */
const leastSeconds = 60 * 60;

/** What is wrong with when a document wants what was made for its object to be replaced. */
export function renewalFaults(kind: Kind, annotations: Annotations, spec: JsonObject): readonly Fault[] {
  const text = annotations[renewBeforeAnnotation];
  if (text === undefined) return [];
  const fault = (message: string): readonly Fault[] => [{ code: 'annotation_invalid', path: '', message }];
  if (kind.renewal === undefined)
    return fault(`nothing that is made for a ${kind.name} ends; take \`${renewBeforeAnnotation}\` out`);
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds < leastSeconds)
    return fault(`\`${renewBeforeAnnotation}\` is \`${text}\`; write a time of at least an hour, such as \`72h\``);
  const lifetime = kind.renewal.lifetime(spec);
  if (lifetime === undefined || seconds <= lifetime - leastSeconds) return [];
  const most = `${Math.floor(lifetime / 3600) - 1}h`;
  return fault(
    `\`${renewBeforeAnnotation}\` is \`${text}\`, and what is made works for ${lifetime / 3600}h; write \`${most}\` at most`,
  );
}

/** Whether a document wants what was made for its object to be replaced at all. */
export function isRenewed(kind: Kind, annotations: Annotations, object: StoredObject): boolean {
  return annotations[renewBeforeAnnotation] !== undefined && kind.renewal?.expires(object) !== undefined;
}

/** Whether what was made for an object is to be replaced now, because its document says so long before it ends. */
export function isRenewalDue(kind: Kind, annotations: Annotations, object: StoredObject, now: string): boolean {
  const seconds = parseDuration(annotations[renewBeforeAnnotation] ?? '');
  const expires = kind.renewal?.expires(object);
  if (seconds === undefined || expires === undefined) return false;
  return Date.parse(now) >= Date.parse(expires) - seconds * 1000;
}
