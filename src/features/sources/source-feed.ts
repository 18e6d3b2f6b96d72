import type { SourceDefinition } from './definition.ts';
import type { CalledSource } from './scheduled-sources.ts';

/** Sources that appear and disappear while a server runs. */
export interface SourceFeed {
  /** Returns the current sources. `recorded` contains the sources of all accounts. */
  definitions(recorded: readonly CalledSource[]): readonly SourceDefinition[];
  /** Calls the listener when the sources may have changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
  /** Ends the feed. Must be called when none of its sources runs any more. */
  stop(): Promise<void>;
}
