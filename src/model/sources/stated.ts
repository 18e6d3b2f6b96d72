import type { KubernetesConfig } from './kubernetes.ts';
import type { GitConfig, SourceConfig } from './schema.ts';

/** A source as a file of settings states it; its files and directories are relative to that file until they are found. */
export type StatedSource = { readonly name: string; readonly account?: string } & (
  | (SourceConfig & { readonly type: 'directory'; readonly path: string })
  | (GitConfig & { readonly type: 'git' })
  | (KubernetesConfig & { readonly type: 'kubernetes' })
);
