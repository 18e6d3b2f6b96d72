/** Time after which a long computation lets other work run in the event loop, in milliseconds. */
const sliceMilliseconds = 12;

/** Runs a generator to its end. Lets other work run after every slice. */
export async function runInSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  return runNowOrInSlices(work);
}

/**
 * Like `runInSlices`, but returns the result directly when the work ends within one slice. Then no other work runs
 * before the caller continues.
 */
export function runNowOrInSlices<Result>(work: Generator<undefined, Result>): Result | Promise<Result> {
  const step = runSlice(work);
  return step.done === true ? step.value : continueInSlices(work);
}

async function continueInSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const step = runSlice(work);
    if (step.done === true) return step.value;
  }
}

/** Runs a generator to its end or to the end of a slice, whichever comes first. */
function runSlice<Result>(work: Generator<undefined, Result>): IteratorResult<undefined, Result> {
  const until = performance.now() + sliceMilliseconds;
  for (;;) {
    const step = work.next();
    if (step.done === true || performance.now() >= until) return step;
  }
}
