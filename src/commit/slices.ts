/** How long a plan may keep the event loop before others get a turn, in milliseconds. */
const sliceMilliseconds = 12;

/** Runs a generator to its end, letting other work in between whenever a slice is over. */
export async function runInSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  return inSlices(work);
}

/** The same; work that ends within one slice is done when this returns, and nothing comes before what follows it. */
export function inSlices<Result>(work: Generator<undefined, Result>): Result | Promise<Result> {
  const step = runSlice(work);
  return step.done === true ? step.value : goOn(work);
}

async function goOn<Result>(work: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const step = runSlice(work);
    if (step.done === true) return step.value;
  }
}

/** Runs until the end or the end of a slice, whichever comes first. */
function runSlice<Result>(work: Generator<undefined, Result>): IteratorResult<undefined, Result> {
  const until = performance.now() + sliceMilliseconds;
  for (;;) {
    const step = work.next();
    if (step.done === true || performance.now() >= until) return step;
  }
}
