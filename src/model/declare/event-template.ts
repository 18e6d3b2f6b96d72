import type { Json } from '../../lib/json.ts';
import { parseJsonTemplate } from '../../lib/text/json-template.ts';

/** An event with all values that templates may use. Its texts contain characters that must be escaped. */
const samples = {
  ID: 4711,
  Timestamp: '2026-01-02T03:04:05.678Z',
  Code: 'group.add',
  Message: 'Group "a\\b"\ncreated',
  InitiatorID: 'ch8i4ug6lnn4g9hqv7p0',
  TargetID: 'ch8i4ug6lnn4g9hqv7mg',
  Meta: { name: 'developers' },
} as const satisfies Readonly<Record<string, Json>>;

/** Values of an event, by the names that templates use. */
export type EventValues = Readonly<Record<keyof typeof samples, Json>>;

/** Parses a template for the message about one event. Returns a fault when the template is invalid. */
export function parseEventTemplate(text: string) {
  return parseJsonTemplate<keyof EventValues>(text, samples);
}
