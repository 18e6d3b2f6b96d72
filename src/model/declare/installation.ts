/** What an installation says about how people sign in. */
export interface Installation {
  /** The server itself is an identity provider. */
  readonly embeddedIdp: boolean;
  /** No user signs in with a password of this server; only external identity providers authenticate people. */
  readonly localAuthDisabled: boolean;
}

/** As an installation is when nothing else is said. */
export const plainInstallation: Installation = { embeddedIdp: true, localAuthDisabled: false };
