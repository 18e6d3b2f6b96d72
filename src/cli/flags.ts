import { settings } from '../config.ts';
import type { Command, Flag, Flags, Invocation } from './command.ts';

/** Flag `--json`. */
export const jsonFlag: Flags = {
  json: { doc: 'Write exactly one JSON document to standard output, also when the command fails.' },
};

/** Flag `--strict-files`. */
export const strictFlag: Flags = {
  'strict-files': {
    doc: 'Reject files that contain no Heddle documents; without this flag they are ignored with a note.',
  },
};

/** Flag `--source-name`, which names the source of pushed documents. */
export const sourceFlag = {
  'source-name': {
    placeholder: 'NAME',
    doc: 'Source that states the documents (default: `source` in the heddle.yaml of the directory).',
  },
};

/** Flags of commands that plan documents on a server. */
export const planFlags: Flags = {
  ...sourceFlag,
  'no-prune': { doc: 'Do not delete what the source stated before and no longer states.' },
  'allow-empty': { doc: 'Allow that no document is left, which deletes everything that the source owns.' },
  adopt: {
    placeholder: 'MODE',
    doc: 'Which objects made through the API are adopted by documents of the same name: identical (objects that the documents do not change), take (any) or never.',
  },
  'allow-replace': { doc: 'Delete and recreate an object when a field changes that can only be set at its creation.' },
  'force-ownership': {
    doc: 'Take over values that other sources state differently; the next plans of these sources will be refused.',
  },
  'strict-base': { doc: 'Apply the plan only while the account is at the revision on which the plan was made.' },
  kind: { placeholder: 'KIND', multiple: true, doc: 'Apply only documents of this kind, and delete nothing.' },
  select: {
    placeholder: 'LABELS',
    doc: 'Apply only documents with matching labels, such as team=data, and delete nothing.',
  },
  ...strictFlag,
  'detailed-exitcode': { doc: 'Exit with 2 when there are changes.' },
  ...jsonFlag,
};

/** Returns all flags of a command: those that it declares, and those of the settings that it reads. */
export function flagsOf(command: Command): Flags {
  const ofSettings = command.settings.flatMap((name): readonly (readonly [string, Flag])[] => {
    const { flag, variable, placeholder, doc, multiple, isSwitch } = settings[name];
    if (flag === undefined) return [];
    const options = {
      ...(isSwitch === true ? {} : { placeholder }),
      ...(variable === undefined ? {} : { variable }),
      ...(multiple === undefined ? {} : { multiple: true as const }),
    };
    return [[flag, { doc, ...options }]];
  });
  return { ...command.flags, ...Object.fromEntries(ofSettings) };
}

/** Returns the flags with these names whose value is a text. */
export function textsOf<const Name extends string>(
  flags: Invocation['flags'],
  names: readonly Name[],
): { readonly [One in Name]?: string } {
  // The cast is safe: the object contains only members with these names, and only texts.
  return Object.fromEntries(
    names.flatMap((name) => (typeof flags[name] === 'string' ? [[name, flags[name]]] : [])),
  ) as { readonly [One in Name]?: string };
}
