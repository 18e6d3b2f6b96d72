import type { KubernetesConfig } from './kubernetes.ts';
import type { GitConfig, SourceConfig } from './schema.ts';

/** A source in a file of settings. Its file and directory names are relative to that file until they are resolved. */
export type StatedSource = { readonly name: string; readonly account?: string } & (
  | (SourceConfig & { readonly type: 'directory'; readonly path: string })
  | (GitConfig & { readonly type: 'git' })
  | (KubernetesConfig & { readonly type: 'kubernetes' })
);
