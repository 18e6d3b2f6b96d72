import type { ChangeImage } from '../../../db/commit/history.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Registry } from '../../../model/declare/registry.ts';
import { type Fields, isEmpty } from '../../../model/schema/field.ts';
import { hideSecrets } from '../../../model/schema/secret-fields.ts';
import { contentFromSpec, emptyContent, type ObjectImage } from '../../../model/state/members.ts';
import type { Declaration } from '../../../model/state/object.ts';
import { diffUnits, type UnitChange } from '../../../model/state/units.ts';
import type { RevisionChange } from '../../../operations/config/revisions.ts';
import { type Labeler, labelValue, viewUnits } from '../../../plan/view/view.ts';

/** A row of the table `changes`, as the history shows it. */
export interface HistoryRow {
  readonly action: string;
  readonly kind: string;
  readonly key: string | null;
  readonly name: string;
  readonly object_id: string;
  readonly units: readonly UnitChange[];
  readonly image: ChangeImage | null;
}

/**
 * Describes what a revision did to one object: its units with names instead of ids, the declarations of sources, and
 * the metadata that changed.
 */
export function viewHistoryRow(registry: Registry, row: HistoryRow, label: Labeler): RevisionChange {
  // The spec of a kind that was removed is unknown, so its secret values are unknown too and no units are shown.
  const fields = registry.find(row.kind)?.spec;
  const declared = fields === undefined ? undefined : declaredOf(fields, row, label);
  const metadata = metadataOf(row, label);
  return {
    action: row.action,
    kind: row.kind,
    ...(row.key === null ? {} : { key: row.key }),
    name: row.name,
    id: row.object_id,
    units: fields === undefined ? [] : viewUnits(fields, unitsOf(fields, row), label),
    ...(declared === undefined ? {} : { declared }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/**
 * Returns all non-empty units of an object that was created or deleted, and only the changed units of any other object.
 */
function unitsOf(fields: Fields, row: HistoryRow): readonly UnitChange[] {
  const object = row.image?.object;
  if (object === undefined) return row.units;
  const content = contentFromSpec(fields, object.spec);
  const units =
    row.action === 'delete' ? diffUnits(fields, content, emptyContent) : diffUnits(fields, emptyContent, content);
  return units.filter((unit) => !isEmpty(unit.before) || !isEmpty(unit.after));
}

/**
 * Returns the declarations that the revision added or changed (`stated`), and the sources that no longer declare the
 * object (`released`).
 */
function declaredOf(fields: Fields, row: HistoryRow, label: Labeler): RevisionChange['declared'] {
  const { object, declared } = row.image ?? {};
  const isGone = row.action === 'delete';
  const stated = object === undefined ? (declared?.put ?? []) : isGone ? [] : object.declared;
  const released = isGone ? (object?.declared ?? []).map(({ source }) => source) : (declared?.drop ?? []);
  if (stated.length + released.length === 0) return undefined;
  return { stated: stated.map((declaration) => viewDeclaration(fields, declaration, label)), released };
}

type Stated = NonNullable<RevisionChange['declared']>['stated'][number];

function viewDeclaration(fields: Fields, declaration: Declaration, label: Labeler): Stated {
  const { source, file, line, stated, exclusive } = declaration;
  const spec = labelValue(hideSecrets(fields, stated), label);
  return { source, file, line, ...(exclusive === undefined ? {} : { exclusive }), spec };
}

const shown = ['key', 'owner', 'parent', 'protected', 'aliases', 'overrides'] as const;

/**
 * Returns metadata outside the spec: all of it for an object that was created or deleted, otherwise only the members
 * that changed. `null` marks a member that was removed.
 */
function metadataOf(row: HistoryRow, label: Labeler): JsonObject {
  const { object, set = {}, unset = [] } = row.image ?? {};
  const values: Partial<ObjectImage> = object ?? set;
  return Object.fromEntries(
    shown.flatMap((name) => {
      const value = values[name];
      // Of a whole object, the key is in the row already, and `false` (not protected) is the default.
      const isPlain = object !== undefined && (value === false || name === 'key');
      if (value !== undefined && !isPlain) return [[name, labelValue(value, label)]];
      return unset.includes(name) ? [[name, null]] : [];
    }),
  );
}

/** Maximum number of texts of a revision that are looked up as ids. */
const maxTexts = 2000;

/** Returns the texts that may be ids of objects: in values, as member names, and in the brackets of paths. */
export function possibleIdsOf(rows: readonly HistoryRow[]): readonly string[] {
  const texts = new Set<string>();
  for (const { units, image } of rows) {
    collectPossibleIds(units, texts);
    collectPossibleIds(image, texts);
    if (texts.size >= maxTexts) break;
  }
  return [...texts].slice(0, maxTexts);
}

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

function collectPossibleIds(value: Json, texts: Set<string>): void {
  if (typeof value === 'string') {
    const bracket = value.endsWith(']') ? value.indexOf('[') : -1;
    const text = bracket < 0 ? value : value.slice(bracket + 1, -1);
    if (idPattern.test(text)) texts.add(text);
  } else if (Array.isArray(value)) {
    for (const item of value) collectPossibleIds(item, texts);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (idPattern.test(name)) texts.add(name);
      collectPossibleIds(item, texts);
    }
  }
}
