/** How users sign in to an installation. */
export interface Installation {
  /** Whether the server itself is an identity provider. */
  readonly embeddedIdp: boolean;
  /**
   * Whether sign-in with a password of this server is disabled, so that only external identity providers authenticate
   * users.
   */
  readonly localAuthDisabled: boolean;
}

/** The default when nothing is configured. */
export const defaultInstallation: Installation = { embeddedIdp: true, localAuthDisabled: false };
