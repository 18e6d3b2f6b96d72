/** How long a plan may keep the event loop before others get a turn, in milliseconds. */
const sliceMilliseconds = 12;

/** Runs a generator to its end, letting other work in between whenever a slice is over. */
export async function runInSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let until = performance.now() + sliceMilliseconds;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + sliceMilliseconds;
  }
}
