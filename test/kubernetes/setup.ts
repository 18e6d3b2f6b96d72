import type { TestProject } from 'vitest/node';
import { type ApiServer, startApiServer } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A kubeconfig file of the API server that the tests share, of a user who may do everything. */
    readonly kubeconfig: string;
  }
}

let server: ApiServer | undefined;

/** Starts the API server that tests share, unless they stop it or change what all its users see. */
export async function setup(project: TestProject): Promise<void> {
  server = await startApiServer();
  project.provide('kubeconfig', server.kubeconfig);
}

/** Stops it. */
export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
}
