import { type Browser, chromium as driver } from 'playwright-core';

/** A headless Chromium that comes with the packages. */
export async function openBrowser(): Promise<Browser> {
  // Without it the package looks for libraries that only its first home lacks.
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return driver.launch({ executablePath: await chromium.executablePath(), args: chromium.args });
}
