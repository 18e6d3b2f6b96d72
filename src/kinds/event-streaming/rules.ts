import { nearest } from '../../lib/nearest.ts';
import type { Fault } from '../../model/declare/kind.ts';
import { keyAliases, type Platform, platforms } from './platforms.ts';

type Config = Readonly<Record<string, string>>;

interface StreamSpec {
  readonly platform: keyof typeof platforms;
  readonly config: Config;
}

/**
 * Returns the spec with keys in the spelling that is stored. When both spellings are given, the alternative one wins:
 * it is never stored, so the caller has just sent it.
 */
export function resolveKeyAliases<S extends { readonly config: Config }>(spec: S): S {
  const { config } = spec;
  // A spec that is only stated may lack `config`.
  if (config === undefined || !Object.keys(config).some((key) => key in keyAliases)) return spec;
  const kept = Object.entries(config).filter(([key]) => !(key in keyAliases));
  const renamed = Object.entries(config).flatMap(([key, value]) => {
    const spelling = keyAliases[key];
    return spelling === undefined ? [] : [[spelling, value] as const];
  });
  const entries = [...new Map([...kept, ...renamed])].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...spec, config: Object.fromEntries(entries) };
}

/** Checks that the configuration has the keys that its platform needs, no others, and valid values. */
export function checkConfig({ platform, config }: StreamSpec): readonly Fault[] {
  const keys = platforms[platform];
  return [
    ...keys.required.filter((key) => isBlank(config[key])).map((key) => missingKeyFault(platform, key)),
    ...Object.keys(config).flatMap((key) => checkKeyKnown(platform, keys, key)),
    ...Object.entries(config).flatMap(([key, value]) => checkValue(keys, config, key, value)),
  ];
}

function checkValue({ valueChecks }: Platform, config: Config, key: string, value: string): readonly Fault[] {
  const message = isBlank(value) ? undefined : valueChecks[key]?.(value, config);
  return message === undefined ? [] : [{ code: 'stream_value_invalid', path: `/config/${key}`, message }];
}

function isBlank(value: string | undefined): boolean {
  return value === undefined || value === '';
}

function missingKeyFault(platform: string, key: string): Fault {
  return { code: 'stream_key_required', path: '/config', message: `the platform ${platform} needs \`${key}\`; add it` };
}

function checkKeyKnown(platform: string, { required, optional }: Platform, key: string): readonly Fault[] {
  const known = [...required, ...optional];
  if (known.includes(key)) return [];
  const guess = nearest(key, known);
  const hint = guess === undefined ? `known are ${known.join(', ')}` : `did you mean \`${guess}\`?`;
  const message = `the platform ${platform} has no \`${key}\`; ${hint}`;
  return [{ code: 'stream_key_unknown', path: `/config/${key}`, message }];
}
