import { settings } from '../config.ts';
import type { Command, Flag, Flags, Invocation } from './command.ts';

/** Flag `--json`. */
export const jsonFlag: Flags = {
  json: { doc: 'Write exactly one JSON document to standard output, also when the command fails.' },
};

/** Flag `--strict-files`. */
export const strictFlag: Flags = {
  'strict-files': { doc: 'Refuse files that hold no documents of ours, which are ignored with a note otherwise.' },
};

/** Flag `--source-name`, which names the source of pushed documents. */
export const sourceFlag = {
  'source-name': {
    placeholder: 'NAME',
    doc: 'Source in whose name the documents are stated (default: `source` in the heddle.yaml of the directory).',
  },
};

/** Flags of commands that plan documents on a server. */
export const planFlags: Flags = {
  ...sourceFlag,
  'no-prune': { doc: 'Delete nothing that the source stated before and no longer states.' },
  'allow-empty': { doc: 'Accept that no document is left, which deletes all that the source owns.' },
  adopt: {
    placeholder: 'MODE',
    doc: 'Which objects made through the API are taken over by documents of the same name: identical (those that stay as they are), take (any) or never.',
  },
  'allow-replace': { doc: 'Make an object anew when a field changes that only its creation writes.' },
  'force-ownership': { doc: 'Take over what other sources state with another value; their next plan will be refused.' },
  'strict-base': { doc: 'Let the plan be applied only while the account is at the revision on which it was made.' },
  kind: { placeholder: 'KIND', multiple: true, doc: 'Apply only documents of this kind, and delete nothing.' },
  select: {
    placeholder: 'LABELS',
    doc: 'Apply only documents whose labels fit, such as team=data, and delete nothing.',
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
