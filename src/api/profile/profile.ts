import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput } from '../../model/errors.ts';
import { type Profile, profiles } from '../../model/profile.ts';
import { refuseUnknown } from '../refusals.ts';
import { ourPath } from './paths.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The form in which the request comes and is answered. */
    profile: Profile;
    /** JSON pointers of members of the body for which the limits of the specification do not hold. */
    unlimited: readonly string[] | undefined;
  }
  interface FastifyContextConfig {
    /** The route is there in this profile alone. */
    profile?: Profile;
  }
}

/** Which profile a server speaks. */
export interface ProfileSettings {
  readonly profile: Profile;
  /** Whether a request may ask for another one by its header. It lifts limits, so the operator says. */
  readonly byHeader: boolean;
}

/** What a server speaks unless its settings say otherwise. */
export const specified: ProfileSettings = { profile: 'specification', byHeader: false };

const header = 'heddle-profile';

/** Whether any request of a server may be of another profile than the specification. */
export function isTranslated({ profile, byHeader }: ProfileSettings): boolean {
  return profile !== 'specification' || byHeader;
}

/** Has Fastify look for routes by the paths of the specification, whichever profile a request is in. */
export function routing(settings: ProfileSettings) {
  if (!isTranslated(settings)) return {};
  return {
    rewriteUrl: (request: IncomingMessage) => {
      const { url = '/', headers } = request;
      return profileOf(settings, headers[header]) === 'compatible' ? ourPath(url) : url;
    },
  };
}

/** Finds out in which profile every request is, ahead of everything that looks at it. */
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
    if (settings.byHeader) addVary(reply);
    const { profile: only = profile } = request.routeOptions.config;
    return only === profile ? undefined : refuseUnknown(request, reply);
  });
}

/** The profile that a request asks for, where it may; `undefined` when there is none of that name. */
function profileOf(settings: ProfileSettings, given: string | readonly string[] | undefined): Profile | undefined {
  if (!settings.byHeader || given === undefined) return settings.profile;
  return profiles.find((one) => one === given);
}

/** Caches keep an answer for the profile that it is in. */
function addVary(reply: FastifyReply): void {
  const present = reply.getHeader('vary');
  void reply.header('vary', present === undefined ? 'Heddle-Profile' : `${String(present)}, Heddle-Profile`);
}

/** An ETag as the profile of a request has it: bodies differ between profiles. */
export function etagIn({ profile }: Pick<FastifyRequest, 'profile'>, etag: string): string {
  return profile === 'specification' ? etag : etag.replace(/"$/, `.${profile}"`);
}
