import type { Setting } from '../config.ts';
import { type Profile, profiles } from '../model/profile.ts';
import { parseSwitch } from './parse.ts';

/** Settings of the client profile, which determines the form of requests and answers. */
export interface ProfileConfig {
  readonly profile: Profile;
  /** Whether a request may choose the other profile in its header `Heddle-Profile`. */
  readonly profileHeader: boolean;
}

/** Declarations of the profile settings. */
export const profileSettings: { readonly [K in keyof ProfileConfig]: Setting<ProfileConfig[K]> } = {
  profile: {
    variable: 'HEDDLE_PROFILE',
    placeholder: 'specification|compatible',
    doc: 'Profile of the API: as specified, or as existing Terraform providers, Go clients and dashboards expect it (default specification).',
    default: 'specification',
    parse([text = '']) {
      const profile = profiles.find((one) => one === text);
      return profile === undefined ? { fault: `is \`${text}\`; write ${profiles.join(' or ')}` } : { value: profile };
    },
  },
  profileHeader: {
    variable: 'HEDDLE_PROFILE_HEADER',
    placeholder: 'true|false',
    doc: 'Whether a request may choose the profile with its header `Heddle-Profile`; the compatible profile lifts limits, for example on the lifetime of setup keys (default false).',
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
};
