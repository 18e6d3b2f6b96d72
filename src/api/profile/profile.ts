import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput } from '../../model/errors.ts';
import { type Profile, profiles } from '../../model/profile.ts';
import { refuseUnknown } from '../refusals.ts';
import { toSpecificationPath } from './paths.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Profile of the request and of its answer. */
    profile: Profile;
    /** JSON pointers of body members to which the limits of the specification do not apply. */
    unlimited: readonly string[] | undefined;
  }
  interface FastifyContextConfig {
    /** The route exists only in this profile. */
    profile?: Profile;
  }
}

/** Profile of a server, and whether requests may choose another profile. */
export interface ProfileSettings {
  readonly profile: Profile;
  /**
   * Whether a request may choose a profile with the header `Heddle-Profile`. A setting of the operator, because a
   * profile may lift limits.
   */
  readonly allowsHeader: boolean;
}

/** Default settings: the specification only. */
export const defaultProfileSettings: ProfileSettings = { profile: 'specification', allowsHeader: false };

const header = 'heddle-profile';

/** Whether requests to a server may use another profile than the specification. */
export function isTranslated({ profile, allowsHeader }: ProfileSettings): boolean {
  return profile !== 'specification' || allowsHeader;
}

/**
 * Returns the Fastify options that let every request find its route by the path of the specification, whatever its
 * profile.
 */
export function routing(settings: ProfileSettings) {
  if (!isTranslated(settings)) return {};
  return {
    rewriteUrl: (request: IncomingMessage) => {
      const { url = '/', headers } = request;
      return profileOf(settings, headers[header]) === 'compatible' ? toSpecificationPath(url) : url;
    },
  };
}

/** Determines the profile of every request, before all hooks that depend on it. */
export function chooseProfile(app: FastifyInstance, settings: ProfileSettings): void {
  app.decorateRequest('profile', settings.profile);
  app.decorateRequest('unlimited', undefined);
  app.addHook('onRequest', async (request, reply) => {
    const profile = profileOf(settings, request.headers[header]);
    if (profile === undefined)
      throw new InvalidInput(
        `the header \`Heddle-Profile\` must be ${profiles.map((one) => `\`${one}\``).join(' or ')}`,
      );
    request.profile = profile;
    if (settings.allowsHeader) addVary(reply);
    const { profile: only = profile } = request.routeOptions.config;
    return only === profile ? undefined : refuseUnknown(request, reply);
  });
}

/**
 * Returns the profile of a request, which its header may choose if allowed. Returns `undefined` for an unknown name.
 */
function profileOf(settings: ProfileSettings, given: string | readonly string[] | undefined): Profile | undefined {
  if (!settings.allowsHeader || given === undefined) return settings.profile;
  return profiles.find((one) => one === given);
}

/** Adds `Vary`, so that caches store an answer separately for each profile. */
function addVary(reply: FastifyReply): void {
  const present = reply.getHeader('vary');
  void reply.header('vary', present === undefined ? 'Heddle-Profile' : `${String(present)}, Heddle-Profile`);
}

/** Returns an ETag for the profile of a request: bodies differ between profiles. */
export function etagIn({ profile }: Pick<FastifyRequest, 'profile'>, etag: string): string {
  return profile === 'specification' ? etag : etag.replace(/"$/, `.${profile}"`);
}
