/** Timers after which namespaces are looked at again. If several are set for one namespace, the earliest counts. */
export interface Alarms {
  set(namespace: string, ms: number): void;
  stop(): void;
}

/** Creates alarms that call `touch`. */
export function createAlarms(touch: (namespace: string) => void): Alarms {
  const timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly at: number }>();
  return {
    set(namespace, ms) {
      const at = performance.now() + ms;
      const present = timers.get(namespace);
      if (present !== undefined && present.at <= at) return;
      clearTimeout(present?.timer);
      const ring = () => {
        timers.delete(namespace);
        touch(namespace);
      };
      timers.set(namespace, { at, timer: setTimeout(ring, ms) });
    },
    stop() {
      for (const { timer } of timers.values()) clearTimeout(timer);
    },
  };
}
