import type { TestProject } from 'vitest/node';
import { type ApiServer, startApiServer } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of a kubeconfig file for the API server that the tests share. Its user has all permissions. */
    readonly kubeconfig: string;
  }
}

let server: ApiServer | undefined;

/**
 * Starts the API server that tests share. Tests that stop the API server, or change what all of its users see, start a
 * separate one.
 */
export async function setup(project: TestProject): Promise<void> {
  server = await startApiServer();
  project.provide('kubeconfig', server.kubeconfig);
}

/** Stops the shared API server. */
export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
}
