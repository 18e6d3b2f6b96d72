import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium as driver } from 'playwright-core';
import manifest from '../../package.json' with { type: 'json' };
import { cache } from '../setup/cache.ts';

const place = join(cache, `chromium-${manifest.devDependencies['@sparticuz/chromium']}`);

/** A headless Chromium that comes with the packages. */
export async function openBrowser(): Promise<Browser> {
  // Without it the package looks for libraries that only its first home lacks.
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs22.x';
  const chromium = await withTemporaryFilesIn(place, async () => (await import('@sparticuz/chromium')).default);
  if (!existsSync(place)) await unpack(() => chromium.executablePath());
  return driver.launch({ executablePath: join(place, 'chromium'), args: chromium.args });
}

/**
 * Unpacks it once on a machine. The package takes whatever lies among the temporary files for complete, also what another
 * process is still writing there, so that each process unpacks into a directory of its own and the first one keeps it.
 */
async function unpack(extract: () => Promise<string>): Promise<void> {
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(`${place}-`);
  await withTemporaryFilesIn(own, extract);
  // The package's own file names directories of its first home: without fonts all text has no height.
  await writeFile(join(own, 'fonts', 'fonts.conf'), fontSettings(join(place, 'fonts')));
  await rename(own, place).catch(async (error: unknown) => {
    await rm(own, { recursive: true });
    if (!existsSync(place)) throw error;
  });
}

function fontSettings(directory: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${directory}</dir><cachedir>${directory}/cache</cachedir></fontconfig>
`;
}

/** Does something while a directory is the one for temporary files: the package takes no other word for where it unpacks. */
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
