import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium as driver } from 'playwright-core';
import manifest from '../../package.json' with { type: 'json' };
import { cache } from '../setup/cache.ts';

const browserDirectory = join(cache, `chromium-${manifest.devDependencies['@sparticuz/chromium']}`);

/** Starts the headless Chromium of the package `@sparticuz/chromium`. */
export async function openBrowser(): Promise<Browser> {
  // Makes the package add its own shared libraries, which it otherwise does only on AWS Lambda.
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs22.x';
  const chromium = await withTemporaryFilesIn(
    browserDirectory,
    async () => (await import('@sparticuz/chromium')).default,
  );
  if (!existsSync(browserDirectory)) await unpack(() => chromium.executablePath());
  return driver.launch({ executablePath: join(browserDirectory, 'chromium'), args: chromium.args });
}

/**
 * Unpacks Chromium once for each machine. The package treats every existing file in the temporary directory as
 * complete, even if another process is still writing it. Each process therefore unpacks into a separate directory, and
 * the first to finish renames its directory to the final path.
 */
async function unpack(extract: () => Promise<string>): Promise<void> {
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(`${browserDirectory}-`);
  await withTemporaryFilesIn(own, extract);
  // The `fonts.conf` of the package names directories of AWS Lambda. Without fonts, all text has no height.
  await writeFile(join(own, 'fonts', 'fonts.conf'), fontSettings(join(browserDirectory, 'fonts')));
  await rename(own, browserDirectory).catch(async (error: unknown) => {
    await rm(own, { recursive: true });
    if (!existsSync(browserDirectory)) throw error;
  });
}

function fontSettings(directory: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${directory}</dir><cachedir>${directory}/cache</cachedir></fontconfig>
`;
}

/**
 * Calls `work` with `TMPDIR` set to a directory. The package has no other option for the directory into which it
 * unpacks.
 */
async function withTemporaryFilesIn<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
